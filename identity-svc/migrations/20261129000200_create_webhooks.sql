-- What happened, as clients are told: sent to webhooks, and read by the live feed. Kept for 7 days.
create table identity.public_events (
    -- That of the event it is made from
    id uuid not null,
    event_type text not null,
    -- The type of the event that this one implies: it comes before, with the id before this one, and has the same data
    before_type text,
    -- A JSON object
    data text not null,
    occurred_at timestamptz(3) not null,
    -- The order of the feed. Assigned under a lock until the transaction ends: whoever has read a position has
    -- seen all lower ones.
    position bigint not null,
    created_at timestamptz(3) not null default now(),
    constraint public_events_pkey primary key (id),
    constraint public_events_position_key unique (position)
);
create index public_events_created_at_idx on identity.public_events using brin (created_at);
create sequence identity.public_events_position_seq owned by identity.public_events.position;

-- Addresses of back ends that events are sent to
create table identity.webhooks (
    id uuid not null,
    url text not null,
    -- Types of events, or patterns of them: `store.order.*`, `*`
    events text[] not null,
    description text not null,
    enabled boolean not null,
    disabled_at timestamptz(3),
    disabled_reason text,
    -- The first failure since the last success
    failing_since timestamptz(3),
    -- The key of signatures, sealed with IDENTITY_KEY_ENCRYPTION_KEY
    sealed_secret bytea not null,
    -- The one before, which signs too until then
    old_sealed_secret bytea,
    old_secret_until timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint webhooks_pkey primary key (id),
    constraint webhooks_events_check check (cardinality(events) > 0),
    constraint webhooks_disabled_check check (
        enabled = (disabled_at is null) and enabled = (disabled_reason is null)),
    constraint webhooks_disabled_reason_check check (disabled_reason in ('admin', 'gone', 'failing')),
    constraint webhooks_old_secret_check check ((old_sealed_secret is null) = (old_secret_until is null))
);

-- Events for webhooks. Times are of the clock of the service.
create table identity.webhook_deliveries (
    id uuid not null,
    webhook_id uuid not null,
    -- The row of the event
    row_id uuid not null,
    -- Id and type of the event: those of the row, or of the one that comes before
    event_id uuid not null,
    event_type text not null,
    status text not null default 'pending',
    -- The attempts so far, one in progress included
    attempts integer not null default 0,
    -- The failures since it was queued, last by hand
    failures integer not null default 0,
    -- The next attempt; while one is in progress, when another process may take it over
    due_at timestamptz(3) not null,
    -- A failure after this time is the last
    retry_until timestamptz(3) not null,
    last_attempted_at timestamptz(3),
    last_status_code integer,
    last_error text,
    last_duration_ms integer,
    delivered_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint webhook_deliveries_pkey primary key (id),
    constraint webhook_deliveries_webhook_id_event_id_key unique (webhook_id, event_id),
    constraint webhook_deliveries_webhook_id_fkey
        foreign key (webhook_id) references identity.webhooks (id) on delete cascade,
    constraint webhook_deliveries_row_id_fkey
        foreign key (row_id) references identity.public_events (id) on delete cascade,
    constraint webhook_deliveries_status_check check (status in ('pending', 'delivered', 'failed'))
);
create index webhook_deliveries_due_at_idx on identity.webhook_deliveries (webhook_id, due_at)
    where status = 'pending';
create index webhook_deliveries_webhook_id_idx on identity.webhook_deliveries (webhook_id, created_at, id);
create index webhook_deliveries_row_id_idx on identity.webhook_deliveries (row_id);

grant select, insert, update, delete on identity.public_events, identity.webhooks, identity.webhook_deliveries
    to guerdon_identity_app;
grant usage on sequence identity.public_events_position_seq to guerdon_identity_app;
