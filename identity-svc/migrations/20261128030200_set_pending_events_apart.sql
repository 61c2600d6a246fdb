-- Which events wait for JetStream is told by rows that come and go: a mark on the event made Postgres
-- write all of it and its indexes again.
create table identity.outbox_pending (
    position bigint not null,
    constraint outbox_pending_pkey primary key (position)
);
insert into identity.outbox_pending select position from identity.outbox where published_at is null;

alter table identity.outbox drop constraint outbox_pkey, drop column published_at;
alter table identity.outbox add constraint outbox_pkey primary key (position);

grant select, insert, delete on identity.outbox_pending to guerdon_identity_app;
