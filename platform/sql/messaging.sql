-- The tables that platform::messaging and platform::idempotency work on. Each service copies this
-- into its first migration with `:schema` replaced by its own, and grants its app role what the
-- comments say. Migrations are the service's own from then on.

-- Events written, kept for a replay. grant: select, insert, delete
create table :schema.outbox (
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
    constraint outbox_pkey primary key (position),
    constraint outbox_aggregate_version_key unique (aggregate_id, aggregate_kind, aggregate_version),
    constraint outbox_aggregate_version_check check (aggregate_version > 0)
);
create index outbox_created_at_idx on :schema.outbox using brin (created_at);

-- Those that JetStream has not acknowledged, as runs of neighbouring positions, mostly one an append.
-- Rows that come and go are cheaper than a mark on the event, whose update would write all of it and
-- its indexes again. grant: select, insert, delete
create table :schema.outbox_pending (
    first_position bigint not null,
    last_position bigint not null,
    constraint outbox_pending_pkey primary key (first_position),
    constraint outbox_pending_run_check check (first_position <= last_position)
);

-- grant: select, insert, delete
create table :schema.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on :schema.inbox using brin (applied_at);

-- Events that a consumer failed on: being tried again while parked_at is null, put aside after.
-- grant: select, insert, update, delete
create table :schema.dead_letters (
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

-- grant: select, insert, update, delete
create table :schema.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

-- grant: select, insert, update, delete
create table :schema.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded answer; null while a saga is under way
    answer bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on :schema.idempotency_keys using brin (created_at);
