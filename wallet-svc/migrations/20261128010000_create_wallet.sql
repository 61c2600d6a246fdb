-- The wallet context: wallets, assets, the double-entry ledger, and the shared messaging tables.

create table wallet.settings (
    name text not null,
    value text not null,
    constraint settings_pkey primary key (name)
);

create table wallet.wallets (
    id uuid not null,
    name text,
    description text,
    owner_id uuid,
    locked boolean not null,
    -- external, bonus, exchange: may go below zero, never listed, never named in a transaction
    system boolean not null default false,
    reference text not null,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    operation_id text,
    version bigint not null default 1,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint wallets_pkey primary key (id),
    constraint wallets_reference_key unique (reference),
    constraint wallets_operation_id_key unique (operation_id)
);
create index wallets_owner_id_idx on wallet.wallets (owner_id) where owner_id is not null;
create index wallets_created_at_idx on wallet.wallets (created_at, id);

create table wallet.assets (
    code text not null,
    name text not null,
    symbol text,
    type text not null,
    decimal_places smallint not null,
    enabled boolean not null default true,
    system boolean not null default false,
    logo text,
    contract text not null default '{}',
    custom_data text not null default '{}',
    metadata text not null default '{}',
    version bigint not null default 1,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint assets_pkey primary key (code),
    constraint assets_code_check check (code ~ '^[a-zA-Z0-9]{1,16}$'),
    constraint assets_type_check check (type in ('crypto', 'custom', 'fiat')),
    constraint assets_decimal_places_check check (decimal_places between 0 and 8)
);
create unique index assets_code_lower_key on wallet.assets (lower(code));

-- One row a wallet and asset: the sums of movements and of open transactions, kept by the poster.
create table wallet.balances (
    wallet_id uuid not null,
    asset_code text not null,
    amount numeric(28, 8) not null default 0,
    -- Debits of pending and processing transactions
    held numeric(28, 8) not null default 0,
    -- Credits of pending and processing transactions
    incoming numeric(28, 8) not null default 0,
    -- Number of movements, and the time of the last
    sequence bigint not null default 0,
    moved_at timestamptz(3) not null default 'epoch',
    -- Whether a transaction ever touched it; a row made for one that was refused stays hidden
    used boolean not null default false,
    -- System wallets may go below zero
    system boolean not null,
    constraint balances_pkey primary key (wallet_id, asset_code),
    constraint balances_wallet_id_fkey foreign key (wallet_id) references wallet.wallets,
    constraint balances_asset_code_fkey foreign key (asset_code) references wallet.assets,
    constraint balances_available_check check (system or amount - held >= 0),
    constraint balances_amount_check check (amount <> 'NaN'),
    constraint balances_held_check check (held >= 0 and held <> 'NaN'),
    constraint balances_incoming_check check (incoming >= 0 and incoming <> 'NaN')
) with (fillfactor = 70);

create table wallet.transactions (
    id uuid not null,
    type text not null,
    code text not null,
    status text not null,
    asset_code text not null,
    amount numeric(28, 8) not null,
    description text,
    origin_wallet_id uuid,
    destination_wallet_id uuid,
    -- The other side of a deposit or withdrawal
    system_wallet_id uuid,
    origin_address text,
    destination_address text,
    external_id text,
    external_reference text,
    reference text not null,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    -- The ledger operation that it is part of, and its place in it
    operation_id text,
    operation_index integer,
    version bigint not null,
    processed_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint transactions_pkey primary key (id),
    constraint transactions_reference_key unique (reference),
    constraint transactions_operation_id_key unique (operation_id, operation_index),
    constraint transactions_asset_code_fkey foreign key (asset_code) references wallet.assets,
    constraint transactions_type_check check (type in ('deposit', 'transfer', 'withdrawal')),
    constraint transactions_status_check
        check (status in ('pending', 'processing', 'confirmed', 'failed', 'rejected')),
    constraint transactions_amount_check check (amount > 0 and amount <> 'NaN'),
    constraint transactions_sides_check check (
        num_nonnulls(origin_wallet_id, destination_wallet_id, system_wallet_id) = 2
        and (type = 'deposit') = (origin_wallet_id is null)
        and (type = 'withdrawal') = (destination_wallet_id is null)),
    constraint transactions_wallets_check check (origin_wallet_id <> destination_wallet_id),
    constraint transactions_processed_at_check
        check ((processed_at is not null) = (status in ('confirmed', 'failed', 'rejected')))
) with (fillfactor = 85);
create index transactions_created_at_idx on wallet.transactions (created_at, id);
create index transactions_origin_idx
    on wallet.transactions (origin_wallet_id, created_at, id) where origin_wallet_id is not null;
create index transactions_destination_idx
    on wallet.transactions (destination_wallet_id, created_at, id)
    where destination_wallet_id is not null;
create index transactions_external_reference_idx
    on wallet.transactions (external_reference) where external_reference is not null;

-- The journal. Append-only: the app role has neither update nor delete.
create table wallet.movements (
    id uuid not null,
    wallet_id uuid not null,
    asset_code text not null,
    -- Counts the movements of a wallet and asset from 1 without gap
    sequence bigint not null,
    transaction_id uuid not null,
    amount numeric(28, 8) not null,
    balance_after numeric(28, 8) not null,
    code text not null,
    created_at timestamptz(3) not null,
    constraint movements_pkey primary key (wallet_id, asset_code, sequence),
    constraint movements_id_key unique (id),
    constraint movements_sequence_check check (sequence > 0),
    constraint movements_amount_check check (amount <> 0 and amount <> 'NaN'),
    constraint movements_balance_after_check check (balance_after <> 'NaN')
);
create index movements_transaction_id_idx on wallet.movements (transaction_id);
create index movements_created_at_idx on wallet.movements (created_at, id);
create index movements_wallet_id_idx on wallet.movements (wallet_id, created_at, id);

-- Who brought a transaction from which state to which. Append-only.
create table wallet.transaction_changes (
    id uuid not null,
    transaction_id uuid not null,
    -- The transaction's version after the change
    version bigint not null,
    from_status text,
    to_status text not null,
    -- user:<id>, key:<id>, service:<name>
    actor text not null,
    created_at timestamptz(3) not null,
    constraint transaction_changes_pkey primary key (transaction_id, version),
    constraint transaction_changes_id_key unique (id)
);

-- What an order's bonus came to: credited is always greatest(granted - revoked, 0), of which owed
-- could not be taken back yet.
create table wallet.order_bonuses (
    order_id uuid not null,
    wallet_id uuid not null,
    asset_code text not null,
    granted numeric(28, 8) not null,
    revoked numeric(28, 8) not null,
    credited numeric(28, 8) not null,
    owed numeric(28, 8) not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint order_bonuses_pkey primary key (order_id),
    constraint order_bonuses_granted_check check (granted >= 0 and granted <> 'NaN'),
    constraint order_bonuses_revoked_check check (revoked >= 0 and revoked <> 'NaN'),
    constraint order_bonuses_credited_check check (credited = greatest(granted - revoked, 0)),
    constraint order_bonuses_owed_check check (owed >= 0 and owed <> 'NaN')
);
create index order_bonuses_owed_idx
    on wallet.order_bonuses (wallet_id, asset_code, created_at) where owed > 0;


-- grant: select, insert, update (published_at), delete
create table wallet.outbox (
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
create index outbox_unpublished_idx on wallet.outbox (position) where published_at is null;
create index outbox_created_at_idx on wallet.outbox using brin (created_at);

-- grant: select, insert, delete
create table wallet.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on wallet.inbox using brin (applied_at);

-- Events that a consumer failed on: being tried again while parked_at is null, put aside after.
-- grant: select, insert, update, delete
create table wallet.dead_letters (
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
create table wallet.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

-- grant: select, insert, update, delete
create table wallet.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded answer; null while a saga is under way
    answer bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on wallet.idempotency_keys using brin (created_at);

grant usage on schema wallet to guerdon_wallet_app;
grant select, insert, update on wallet.settings, wallet.wallets, wallet.assets, wallet.balances,
    wallet.order_bonuses to guerdon_wallet_app;
grant select, insert on wallet.transactions, wallet.movements, wallet.transaction_changes
    to guerdon_wallet_app;
-- A transaction's money and parties never change.
grant update (status, metadata, version, processed_at, updated_at) on wallet.transactions
    to guerdon_wallet_app;
grant select, insert, update (published_at), delete on wallet.outbox to guerdon_wallet_app;
grant select, insert, delete on wallet.inbox to guerdon_wallet_app;
grant select, insert, update, delete on wallet.dead_letters, wallet.leases, wallet.idempotency_keys
    to guerdon_wallet_app;
