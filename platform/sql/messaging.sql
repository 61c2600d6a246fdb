-- The tables of platform::messaging, platform::idempotency and platform::audit, the same in every service:
-- platform/sql/messaging.sql with `:schema` replaced, as a test of platform checks.

-- Events, kept for 7 days after they are published, for replays.
create table :schema.outbox (
    id uuid not null,
    -- The order of insertion. Within an aggregate it is the order of versions, because a version is
    -- assigned under the aggregate's row lock. It is no cursor: sequences commit out of order.
    position bigint generated always as identity,
    -- JetStream subject and CloudEvents type: guerdon.<context>.v1.<Event>
    event_type text not null,
    aggregate_kind text not null,
    aggregate_id uuid not null,
    aggregate_version bigint not null,
    body bytea not null,
    traceparent text,
    created_at timestamptz(3) not null default now(),
    constraint outbox_pkey primary key (position),
    constraint outbox_aggregate_version_check check (aggregate_version > 0)
);
create index outbox_created_at_idx on :schema.outbox using brin (created_at);

-- The events that JetStream has not acknowledged, as ranges of positions, mostly one for each append.
-- A separate table is cheaper than a column of the outbox, where each update would write the whole
-- event and its indexes again.
create table :schema.outbox_pending (
    first_position bigint not null,
    last_position bigint not null,
    constraint outbox_pending_pkey primary key (first_position),
    constraint outbox_pending_range_check check (first_position <= last_position)
);

-- The events that consumers have applied, which makes a redelivery have no effect.
create table :schema.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on :schema.inbox using brin (applied_at);

-- Events that a consumer failed to apply, or that JetStream refuses (consumer relay): retried while
-- parked_at is null, afterwards only by the command dead-letters.
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

-- Work that one replica does at a time, such as publishing.
create table :schema.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

-- Responses to requests with an idempotency key, kept for 24 hours.
create table :schema.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded response; null while the request is in progress
    response bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on :schema.idempotency_keys using brin (created_at);

-- Who changed what. Never changed and never deleted.
create table :schema.audit_log (
    -- A UUID of version 7 (RFC 9562), by the clock of the database
    id uuid not null default encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid()) placing substring(
                int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
            52, 1), 53, 1),
        'hex')::uuid,
    created_at timestamptz(3) not null default now(),
    service text not null generated always as (':schema-svc') stored,
    -- user:<id>, key:<id>, service:<name>
    actor text not null,
    -- <resource type>.<what was done>
    action text not null,
    resource_type text not null,
    -- A UUID or a code
    resource_id text not null,
    trace_id text,
    -- Without secrets and personal data
    details jsonb not null,
    constraint audit_log_pkey primary key (id)
);
create index audit_log_created_at_idx on :schema.audit_log (created_at, id);
create index audit_log_actor_idx on :schema.audit_log (actor, created_at, id);
create index audit_log_resource_id_idx on :schema.audit_log (resource_id, created_at, id);

-- Events are never changed, and neither is what was applied.
grant select, insert, delete on :schema.outbox, :schema.outbox_pending, :schema.inbox
    to guerdon_:schema_app;
grant select, insert on :schema.audit_log to guerdon_:schema_app;
grant select, insert, update, delete
    on :schema.dead_letters, :schema.leases, :schema.idempotency_keys to guerdon_:schema_app;
