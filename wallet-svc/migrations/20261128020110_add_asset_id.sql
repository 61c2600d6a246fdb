-- Assets get an id for the events about them, which name aggregates by uuid; clients go on using the
-- code. The default serves the previous version, which knows of no id.
alter table wallet.assets
    add column id uuid not null default gen_random_uuid(),
    add constraint assets_id_key unique (id);

-- Version 0 is an asset that nobody was told of yet: the next start tells of it and makes it 1.
alter table wallet.assets alter column version set default 0;
update wallet.assets set version = 0;

-- Whether an asset was ever used is asked under the asset's lock, which postings wait for.
create index balances_asset_code_idx on wallet.balances (asset_code);
