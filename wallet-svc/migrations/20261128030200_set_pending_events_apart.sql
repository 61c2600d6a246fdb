-- Which events wait for JetStream is told by rows that come and go: a mark on the event made Postgres
-- write all of it and its indexes again.
create table wallet.outbox_pending (
    position bigint not null,
    constraint outbox_pending_pkey primary key (position)
);
insert into wallet.outbox_pending select position from wallet.outbox where published_at is null;

alter table wallet.outbox drop constraint outbox_pkey, drop column published_at;
alter table wallet.outbox add constraint outbox_pkey primary key (position);

grant select, insert, delete on wallet.outbox_pending to guerdon_wallet_app;
