-- Events in and out, leases, and answers kept for idempotency keys; see platform::messaging.

create table catalog.outbox (
    id uuid not null,
    -- The order of insertion. Within an aggregate it is the order of versions, because a version is
    -- given out under the aggregate's row lock. It is never a cursor: sequences commit out of order.
    position bigint generated always as identity,
    -- Subject on JetStream and CloudEvents type in one: guerdon.<context>.v1.<Event>
    event_type text not null,
    aggregate_kind text not null,
    aggregate_id uuid not null,
    aggregate_version bigint not null,
    body bytea not null,
    traceparent text,
    created_at timestamptz(3) not null default now(),
    published_at timestamptz(3),
    constraint outbox_pkey primary key (id),
    constraint outbox_aggregate_version_key unique (aggregate_id, aggregate_kind, aggregate_version),
    constraint outbox_aggregate_version_check check (aggregate_version > 0)
);
create index outbox_unpublished_idx on catalog.outbox (position) where published_at is null;
create index outbox_created_at_idx on catalog.outbox using brin (created_at);

create table catalog.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on catalog.inbox using brin (applied_at);

-- Events that a consumer failed on: being tried again while parked_at is null, put aside after.
create table catalog.dead_letters (
    consumer text not null,
    event_id uuid not null,
    subject text not null,
    headers jsonb not null,
    body bytea not null,
    reason text not null,
    failures integer not null,
    first_failed_at timestamptz(3) not null default now(),
    last_failed_at timestamptz(3) not null default now(),
    parked_at timestamptz(3),
    constraint dead_letters_pkey primary key (consumer, event_id)
);

create table catalog.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

create table catalog.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded answer; null while a saga is under way
    answer bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on catalog.idempotency_keys using brin (created_at);

grant select, insert, delete on catalog.outbox to guerdon_catalog_app;
grant update (published_at) on catalog.outbox to guerdon_catalog_app;
grant select, insert, delete on catalog.inbox to guerdon_catalog_app;
grant select, insert, update, delete
    on catalog.dead_letters, catalog.leases, catalog.idempotency_keys to guerdon_catalog_app;
