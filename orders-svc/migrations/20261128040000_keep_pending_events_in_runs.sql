-- A row for neighbouring positions, mostly all of an append, instead of one for each event: what comes
-- and goes leaves dead rows behind, and the relay reads over them.
alter table orders.outbox_pending rename column position to first_position;
alter table orders.outbox_pending add column last_position bigint;
update orders.outbox_pending set last_position = first_position;
alter table orders.outbox_pending
    alter column last_position set not null,
    add constraint outbox_pending_run_check check (first_position <= last_position);
