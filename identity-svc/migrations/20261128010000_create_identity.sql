-- Users with their credentials, API keys, and tasks. The service runs as guerdon_identity_app, which
-- can neither change tables nor take back a completion.

create table identity.users (
    id uuid not null,
    -- `provisioning`: the row only reserves the email until the user's wallet is there.
    state text not null default 'provisioning',
    -- Number of the user's last event.
    version bigint not null default 0,
    -- As it is shown, and the form in which it is unique (user::email).
    email text not null,
    canonical_email text not null,
    name text,
    phone text,
    locale text,
    roles text[] not null,
    approved boolean not null,
    blocked boolean not null,
    verified boolean not null,
    -- While provisioning: the existing wallet that is to become the user's, if one was named.
    primary_wallet_id uuid,
    referral_code text not null,
    referral_user_id uuid,
    -- JSON object, kept as it was written.
    custom_data text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint users_pkey primary key (id),
    constraint users_canonical_email_key unique (canonical_email),
    constraint users_primary_wallet_id_key unique (primary_wallet_id),
    constraint users_referral_code_key unique (referral_code),
    constraint users_referral_user_id_fkey foreign key (referral_user_id) references identity.users (id),
    constraint users_state_check check (state in ('provisioning', 'active')),
    constraint users_roles_check check (roles <@ array ['admin', 'user'] and cardinality(roles) > 0),
    constraint users_active_check check (state = 'provisioning' or (primary_wallet_id is not null and version > 0)),
    constraint users_canonical_email_check check (canonical_email = lower(email)),
    constraint users_custom_data_check check (octet_length(custom_data) <= 16384)
);
create index users_created_at_idx on identity.users (created_at, id);
create index users_updated_at_idx on identity.users (updated_at, id);
create index users_referral_user_id_idx on identity.users (referral_user_id);

create table identity.credentials (
    user_id uuid not null,
    -- Argon2id in PHC form.
    password_hash text not null,
    updated_at timestamptz(3) not null,
    constraint credentials_pkey primary key (user_id),
    constraint credentials_user_id_fkey foreign key (user_id) references identity.users (id)
);

-- Creations that are under way: there from the claim of the email until the user is active.
create table identity.user_provisionings (
    user_id uuid not null,
    -- The claim of the request's idempotency key, if it had one.
    idempotency_scope bytea,
    -- When recovery takes the creation over, by the database's clock.
    retry_at timestamptz(3) not null,
    attempts integer not null default 0,
    constraint user_provisionings_pkey primary key (user_id),
    constraint user_provisionings_user_id_fkey foreign key (user_id) references identity.users (id)
);
create index user_provisionings_retry_at_idx on identity.user_provisionings (retry_at);

create table identity.api_keys (
    id uuid not null,
    name text not null,
    -- SHA-256 of the key; the key itself is shown once and kept nowhere.
    key_hash bytea not null,
    roles text[] not null,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    created_at timestamptz(3) not null,
    constraint api_keys_pkey primary key (id),
    constraint api_keys_key_hash_key unique (key_hash),
    constraint api_keys_key_hash_check check (octet_length(key_hash) = 32),
    constraint api_keys_roles_check check (roles <@ array ['admin', 'user'] and cardinality(roles) > 0)
);

create table identity.tasks (
    id uuid not null,
    name text not null,
    description text not null,
    kind text not null,
    amount numeric(28, 8) not null,
    asset_code text not null,
    button_label text,
    survey_url text,
    -- As written: a URL, or a path below MEDIA_BASE_URL.
    image text,
    thumbnail text,
    -- Ranking key; the public `order`.
    rank numeric(60, 40) not null,
    enabled boolean not null,
    featured boolean not null,
    custom_data text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint tasks_pkey primary key (id),
    constraint tasks_kind_check check (kind in ('manual', 'survey', 'automatic', 'system')),
    constraint tasks_amount_check check (amount > 0 and amount <> 'NaN'),
    constraint tasks_rank_check check (rank >= 0 and rank <> 'NaN'),
    constraint tasks_custom_data_check check (octet_length(custom_data) <= 16384)
);
create index tasks_rank_idx on identity.tasks (rank, id);

-- Append-only: each row stands for a reward that is paid once.
create table identity.task_completions (
    id uuid not null,
    task_id uuid not null,
    user_id uuid not null,
    amount numeric(28, 8) not null,
    asset_code text not null,
    -- The transaction by which wallet-svc credits the reward; its id is given out here.
    transaction_id uuid not null,
    created_at timestamptz(3) not null,
    constraint task_completions_pkey primary key (id),
    constraint task_completions_task_id_user_id_key unique (task_id, user_id),
    constraint task_completions_transaction_id_key unique (transaction_id),
    constraint task_completions_task_id_fkey foreign key (task_id) references identity.tasks (id),
    constraint task_completions_user_id_fkey foreign key (user_id) references identity.users (id),
    constraint task_completions_amount_check check (amount > 0 and amount <> 'NaN')
);
create index task_completions_user_id_idx on identity.task_completions (user_id);

create table identity.outbox (
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
create index outbox_unpublished_idx on identity.outbox (position) where published_at is null;
create index outbox_created_at_idx on identity.outbox using brin (created_at);

create table identity.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on identity.inbox using brin (applied_at);

-- Events that a consumer failed on: being tried again while parked_at is null, put aside after.
create table identity.dead_letters (
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

create table identity.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

create table identity.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded answer; null while a saga is under way
    answer bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on identity.idempotency_keys using brin (created_at);

grant usage on schema identity to guerdon_identity_app;
grant select, insert, update, delete on
    identity.users, identity.credentials, identity.user_provisionings,
    identity.outbox, identity.dead_letters, identity.leases, identity.idempotency_keys
to guerdon_identity_app;
grant select, insert, update on identity.api_keys, identity.tasks to guerdon_identity_app;
grant select, insert on identity.task_completions to guerdon_identity_app;
grant select, insert, delete on identity.inbox to guerdon_identity_app;
