-- What AssetChanged told last of an asset; 0 before it told anything.
alter table catalog.assets add column version bigint not null default 0;
