-- Wallets, assets, rates, addresses, and the double-entry ledger.
-- NaN sorts above every number in Postgres, so checks exclude it by name.

-- Values made at the first start: the id of the default wallet.
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
    -- Whether the owner never changes: that of a user's primary wallet, and of the default wallet, which
    -- has none
    owner_fixed boolean not null default false,
    locked boolean not null,
    -- external, bonus, exchange: may go below zero, and are hidden from clients
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

-- Clients name assets by code, events by id.
create table wallet.assets (
    id uuid not null,
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
    -- 0 until AssetChanged is appended for a new asset, at the next start
    version bigint not null default 0,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint assets_pkey primary key (code),
    constraint assets_id_key unique (id),
    constraint assets_code_check check (code ~ '^[a-zA-Z0-9]{1,16}$'),
    constraint assets_type_check check (type in ('crypto', 'custom', 'fiat')),
    constraint assets_decimal_places_check check (decimal_places between 0 and 8)
);
create unique index assets_code_lower_key on wallet.assets (lower(code));

-- The price of one unit of the base asset in the quote asset. Clients name the pair; the id is the
-- aggregate of events, so that a rate which is deleted and created again is another aggregate.
create table wallet.rates (
    id uuid not null,
    base_asset_code text not null,
    quote_asset_code text not null,
    rate numeric(28, 8) not null,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint rates_pkey primary key (id),
    constraint rates_pair_key unique (base_asset_code, quote_asset_code),
    constraint rates_base_asset_code_fkey foreign key (base_asset_code) references wallet.assets,
    constraint rates_quote_asset_code_fkey foreign key (quote_asset_code) references wallet.assets,
    constraint rates_pair_check check (base_asset_code <> quote_asset_code),
    constraint rates_rate_check check (rate > 0 and rate <> 'NaN')
);

-- External addresses of wallets.
create table wallet.addresses (
    id uuid not null,
    address text not null,
    asset_code text,
    wallet_id uuid,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint addresses_pkey primary key (id),
    constraint addresses_address_key unique nulls not distinct (address, asset_code),
    constraint addresses_asset_code_fkey foreign key (asset_code) references wallet.assets,
    constraint addresses_wallet_id_fkey foreign key (wallet_id) references wallet.wallets,
    constraint addresses_address_check check (address ~ '^[!-~]{1,128}$' and address !~ '[/?#]')
);
create index addresses_created_at_idx on wallet.addresses (created_at, id);
create index addresses_wallet_id_idx on wallet.addresses (wallet_id) where wallet_id is not null;

-- The next index to derive of each extended public key.
create table wallet.address_keys (
    -- HASH160 of the public key, in hexadecimal: another key starts from the beginning
    fingerprint text not null,
    next_index bigint not null,
    constraint address_keys_pkey primary key (fingerprint),
    -- Larger indexes are the hardened ones of BIP 32
    constraint address_keys_next_index_check check (next_index between 1 and 2147483648)
);

-- One row for each wallet and asset: the sums of its movements and of its open transactions.
create table wallet.balances (
    wallet_id uuid not null,
    asset_code text not null,
    amount numeric(28, 8) not null default 0,
    -- Debits of pending and processing transactions
    held numeric(28, 8) not null default 0,
    -- Credits of pending and processing transactions
    incoming numeric(28, 8) not null default 0,
    -- Number of movements, and time of the last one
    sequence bigint not null default 0,
    moved_at timestamptz(3) not null default 'epoch',
    -- Whether a transaction was ever accepted; a row made for a refused one stays hidden
    used boolean not null default false,
    -- System wallets may go below zero
    system boolean not null,
    -- Changes with each change of the row and of its wallet. A batch that was decided on a read without
    -- locks is written only if the versions are still the same. Random, not a counter: after a restore
    -- or failover a counter would repeat its values for other amounts.
    version bigint not null default 0,
    constraint balances_pkey primary key (wallet_id, asset_code),
    constraint balances_wallet_id_fkey foreign key (wallet_id) references wallet.wallets,
    constraint balances_asset_code_fkey foreign key (asset_code) references wallet.assets,
    constraint balances_available_check check (system or amount - held >= 0),
    constraint balances_amount_check check (amount <> 'NaN'),
    constraint balances_held_check check (held >= 0 and held <> 'NaN'),
    constraint balances_incoming_check check (incoming >= 0 and incoming <> 'NaN')
) with (fillfactor = 70);
-- Whether an asset is in use is queried under the asset's lock, which postings wait for.
create index balances_asset_code_idx on wallet.balances (asset_code);

create function wallet.random_version() returns bigint
language sql volatile as $$ select hashtextextended(gen_random_uuid()::text, 0) $$;

-- Batches bring their own version; any other change gets one here.
create function wallet.change_version() returns trigger
language plpgsql as $$
begin
    new.version := wallet.random_version();
    return new;
end $$;
create trigger change_version before update on wallet.balances
    for each row when (new.version = old.version)
    execute function wallet.change_version();

-- Postings are decided on the wallet as it was read with its balances.
create function wallet.change_balance_versions() returns trigger
language plpgsql as $$
begin
    update wallet.balances set version = wallet.random_version() where wallet_id = new.id;
    return null;
end $$;
create trigger change_balance_versions after update on wallet.wallets
    for each row when (
        (old.locked, old.owner_id, old.system) is distinct from (new.locked, new.owner_id, new.system))
    execute function wallet.change_balance_versions();

-- Fails the statement that calls it unless it wrote as many rows as expected, and in time. The clock
-- is read once the rows are counted, so when the statement has their locks. The error code is its own:
-- a serialization failure would be retried, also under locks, where this is a bug.
create function wallet.ensure_current(written bigint, expected bigint, not_after timestamptz)
returns boolean
language plpgsql as $$
begin
    if written <> expected then
        raise exception '% of % rows are as they were read', written, expected
            using errcode = 'GD001';
    end if;
    if clock_timestamp() > not_after then
        raise exception 'an operation had to be accepted by %', not_after using errcode = 'GD001';
    end if;
    return true;
end $$;

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
    -- The other side of a deposit or withdrawal; between both sides of an exchange
    system_wallet_id uuid,
    origin_address text,
    destination_address text,
    external_id text,
    external_reference text,
    reference text not null,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    -- The ledger operation that it is part of, and its index in it
    operation_id text,
    operation_index integer,
    -- The transaction whose money this one gives back
    refunds_id uuid,
    version bigint not null,
    processed_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint transactions_pkey primary key (id),
    constraint transactions_reference_key unique (reference),
    -- No foreign key to assets: the balances that a transaction is about have one.
    constraint transactions_type_check
        check (type in ('deposit', 'exchange', 'transfer', 'withdrawal')),
    constraint transactions_status_check
        check (status in ('pending', 'processing', 'confirmed', 'failed', 'rejected')),
    constraint transactions_amount_check check (amount > 0 and amount <> 'NaN'),
    constraint transactions_sides_check check (
        num_nonnulls(origin_wallet_id, destination_wallet_id, system_wallet_id)
            = case type when 'exchange' then 3 else 2 end
        and (type = 'deposit') = (origin_wallet_id is null)
        and (type = 'withdrawal') = (destination_wallet_id is null)),
    -- An exchange has one wallet on both sides.
    constraint transactions_wallets_check
        check ((type = 'exchange') = (origin_wallet_id = destination_wallet_id)),
    constraint transactions_processed_at_check
        check ((processed_at is not null) = (status in ('confirmed', 'failed', 'rejected')))
) with (fillfactor = 85);
create unique index transactions_operation_id_key
    on wallet.transactions (operation_id, operation_index) where operation_id is not null;
create index transactions_created_at_idx on wallet.transactions (created_at, id);
-- A wallet's transactions are those with it as destination, and those with it as origin but not as
-- destination: with the destination in the index the latter are counted by an index-only scan.
create index transactions_origin_idx
    on wallet.transactions (origin_wallet_id, created_at, id) include (destination_wallet_id)
    where origin_wallet_id is not null;
create index transactions_destination_idx
    on wallet.transactions (destination_wallet_id, created_at, id)
    where destination_wallet_id is not null;
create index transactions_external_reference_idx
    on wallet.transactions (external_reference) where external_reference is not null;
create index transactions_refunds_id_idx
    on wallet.transactions (refunds_id) where refunds_id is not null;
-- The transactions of an order's bonuses. Their metadata starts with the reason, which that of no client's
-- transaction does.
create index transactions_bonus_idx
    on wallet.transactions (substring(metadata from '"orderId":"([^"]*)"'))
    where code = 'internal'
        and (metadata like '{"reason":"bonus%' or metadata like '{"reason":"referral%');
-- The transactions that were open at some time, from which balances of the past are computed.
-- Payments, which are processed as they are created, are not in these indexes.
create index transactions_origin_open_idx
    on wallet.transactions (origin_wallet_id, created_at)
    where processed_at is distinct from created_at;
create index transactions_destination_open_idx
    on wallet.transactions (destination_wallet_id, created_at)
    where processed_at is distinct from created_at;

-- Returns the smallest UUID that starts with this time, as platform::ids::first_id_of does.
create function wallet.first_id_of(instant timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex(floor(extract(epoch from instant) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Returns the id of the movement with this number, from 0 to 3, of a transaction whose money moved at this time: the
-- transaction's id with that time, and the number in the last four bits.
create function wallet.movement_id(transaction_id uuid, moved_at timestamptz, number integer) returns uuid
language sql immutable parallel safe
return (lpad(to_hex((extract(epoch from moved_at) * 1000)::bigint), 12, '0') || substr(transaction_id::text, 14, 22)
    || number)::uuid;

-- The journal. Append-only.
create table wallet.movements (
    -- That of wallet.movement_id, so of version 7 with the time of created_at: a list by time is read in the order of
    -- ids, and the movements of a transaction are found by its id and processed_at
    id uuid not null,
    wallet_id uuid not null,
    asset_code text not null,
    -- Numbers the movements of a wallet and asset from 1 without gaps
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
create index movements_wallet_id_idx on wallet.movements (wallet_id, id);

-- The status changes of transactions. Append-only.
create table wallet.transaction_changes (
    transaction_id uuid not null,
    -- The transaction's version after the change
    version bigint not null,
    from_status text,
    to_status text not null,
    -- user:<id>, key:<id>, service:<name>
    actor text not null,
    created_at timestamptz(3) not null,
    constraint transaction_changes_pkey primary key (transaction_id, version)
);
-- The audit log shows them by time.
create index transaction_changes_created_at_idx on wallet.transaction_changes using brin (created_at);

-- The batches written in the last minutes, by which a commit without a reply is looked up.
create table wallet.posted_batches (
    id uuid not null,
    -- Inserted by the lookup instead of the batch, which cannot be committed any more
    abandoned boolean not null default false,
    posted_at timestamptz not null default now(),
    constraint posted_batches_pkey primary key (id)
);
create index posted_batches_posted_at_idx on wallet.posted_batches (posted_at);

-- The bonuses of each order: credited is always greatest(granted - revoked, 0); owed is the part of the
-- revoked bonus that could not be debited yet.
create table wallet.order_bonuses (
    order_id uuid not null,
    -- buyer: the bonus of the products; referrer: the reward of the user who referred the buyer
    beneficiary text not null,
    wallet_id uuid not null,
    asset_code text not null,
    granted numeric(28, 8) not null,
    revoked numeric(28, 8) not null,
    credited numeric(28, 8) not null,
    owed numeric(28, 8) not null,
    -- Number of events about it
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint order_bonuses_pkey primary key (order_id, beneficiary),
    constraint order_bonuses_beneficiary_check check (beneficiary in ('buyer', 'referrer')),
    constraint order_bonuses_granted_check check (granted >= 0 and granted <> 'NaN'),
    constraint order_bonuses_revoked_check check (revoked >= 0 and revoked <> 'NaN'),
    constraint order_bonuses_credited_check check (credited = greatest(granted - revoked, 0)),
    constraint order_bonuses_owed_check check (owed >= 0 and owed <> 'NaN')
);
create index order_bonuses_owed_idx
    on wallet.order_bonuses (wallet_id, asset_code, created_at) where owed > 0;

-- What each referral earned, converted once: a redelivery pays the same whatever the rates are then.
-- Append-only.
create table wallet.referral_rewards (
    referral_id uuid not null,
    -- The order; null where a task was completed
    order_id uuid,
    wallet_id uuid not null,
    base_amount numeric(28, 8) not null,
    base_asset_code text not null,
    percent numeric(28, 8) not null,
    asset_code text not null,
    decimal_places smallint not null,
    -- 0 where it rounds to zero or was skipped
    amount numeric(28, 8) not null,
    -- Why nothing is paid, if so
    skipped text,
    -- The transaction that credits it, if any does
    transaction_id uuid not null,
    created_at timestamptz(3) not null default now(),
    constraint referral_rewards_pkey primary key (referral_id),
    constraint referral_rewards_order_id_key unique (order_id),
    constraint referral_rewards_base_amount_check check (base_amount > 0 and base_amount <> 'NaN'),
    constraint referral_rewards_percent_check check (percent > 0 and percent <= 100),
    constraint referral_rewards_amount_check check (amount >= 0 and amount <> 'NaN'),
    constraint referral_rewards_skipped_check
        check (skipped is null or (skipped in ('rate_not_found', 'amount_out_of_range') and amount = 0))
);

-- How much of each order was refunded, of what amount. A refund may become known before the referral that
-- it takes back. The refunded amount only grows.
create table wallet.order_refunds (
    order_id uuid not null,
    amount numeric(28, 8) not null,
    refunded numeric(28, 8) not null,
    created_at timestamptz(3) not null default now(),
    constraint order_refunds_pkey primary key (order_id),
    constraint order_refunds_refunded_check
        check (refunded > 0 and refunded <= amount and amount <> 'NaN')
);

-- The verification in progress, which any process continues: the table it has got to, and the last key
-- that it has checked there.
create table wallet.verification (
    is_only boolean not null default true,
    table_name text not null,
    id uuid not null,
    -- The asset, or the beneficiary of a bonus
    name text not null,
    violations bigint not null,
    started_at timestamptz not null,
    constraint verification_pkey primary key (is_only),
    constraint verification_is_only_check check (is_only)
);

grant usage on schema wallet to guerdon_wallet_app;
grant select, insert, update on wallet.settings, wallet.wallets, wallet.assets, wallet.balances,
    wallet.order_bonuses, wallet.order_refunds, wallet.address_keys to guerdon_wallet_app;
grant select, insert, update, delete on wallet.rates, wallet.posted_batches, wallet.verification
    to guerdon_wallet_app;
grant select, insert on wallet.addresses, wallet.transactions, wallet.movements,
    wallet.transaction_changes, wallet.referral_rewards to guerdon_wallet_app;
-- A transaction's amount and wallets never change.
grant update (status, metadata, version, processed_at, updated_at) on wallet.transactions
    to guerdon_wallet_app;
