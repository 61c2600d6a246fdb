-- The baseline: one transfer per transaction, as a fair and simple ledger in the database does
-- it. It keeps less than wallet-svc: no history, no holds, one event, fewer indexes.
create schema baseline;

create table baseline.accounts (
    wallet_id uuid not null,
    asset_code text not null,
    amount numeric(28, 8) not null,
    sequence bigint not null default 0,
    primary key (wallet_id, asset_code),
    check (amount >= 0)
) with (fillfactor = 70);

create table baseline.transactions (
    id bigint generated always as identity primary key,
    operation_id text not null unique,
    asset_code text not null,
    amount numeric(28, 8) not null check (amount > 0),
    origin_wallet_id uuid not null,
    destination_wallet_id uuid not null,
    created_at timestamptz(3) not null default clock_timestamp(),
    check (origin_wallet_id <> destination_wallet_id)
);
create index on baseline.transactions (origin_wallet_id, created_at);
create index on baseline.transactions (destination_wallet_id, created_at);

create table baseline.movements (
    wallet_id uuid not null,
    asset_code text not null,
    sequence bigint not null,
    transaction_id bigint not null,
    amount numeric(28, 8) not null,
    balance_after numeric(28, 8) not null,
    created_at timestamptz(3) not null default clock_timestamp(),
    primary key (wallet_id, asset_code, sequence)
);
create index on baseline.movements (transaction_id);

create table baseline.outbox (
    position bigint generated always as identity primary key,
    event_type text not null,
    transaction_id bigint not null,
    body text not null,
    published_at timestamptz(3)
);
create index on baseline.outbox (position) where published_at is null;

create function baseline.wallet(number bigint) returns uuid language sql immutable as $$
    select ('0000000c-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid
$$;

create function baseline.transfer(
    operation text, debited uuid, credited uuid, asset text, sum numeric
) returns bigint language plpgsql as $$
declare
    transfer bigint;
    debit baseline.accounts;
    credit baseline.accounts;
begin
    -- Both rows in one order, so that no two transfers wait for each other.
    perform from baseline.accounts
    where wallet_id in (debited, credited) and asset_code = asset
    order by wallet_id for update;

    select id into transfer from baseline.transactions where operation_id = operation;
    if found then
        return transfer;
    end if;

    update baseline.accounts set amount = amount - sum, sequence = sequence + 1
    where wallet_id = debited and asset_code = asset and amount >= sum
    returning * into debit;
    if not found then
        raise exception 'insufficient funds';
    end if;
    update baseline.accounts set amount = amount + sum, sequence = sequence + 1
    where wallet_id = credited and asset_code = asset
    returning * into strict credit;

    insert into baseline.transactions (
        operation_id, asset_code, amount, origin_wallet_id, destination_wallet_id)
    values (operation, asset, sum, debited, credited)
    returning id into transfer;
    insert into baseline.movements (
        wallet_id, asset_code, sequence, transaction_id, amount, balance_after)
    values (debited, asset, debit.sequence, transfer, -sum, debit.amount),
        (credited, asset, credit.sequence, transfer, sum, credit.amount);
    insert into baseline.outbox (event_type, transaction_id, body)
    values ('TransactionConfirmed', transfer,
        format('{"id":%s,"origin":"%s","destination":"%s","amount":"%s","asset":"%s"}',
            transfer, debited, credited, sum, asset));
    return transfer;
end
$$;

-- Wallet 0 is the one that everybody pays into.
insert into baseline.accounts (wallet_id, asset_code, amount)
select baseline.wallet(number), 'usd', 1000000 from generate_series(0, 100000) number;
