-- :count transactions, in sets, as the ledger would have written them. Wallet 0 is hot: every second
-- transaction is its own. 1 to 1000 share the others. 1001 took part in a thousand of the first and
-- in none since. Two in 50 are pending.
--
-- The first 1 002 are the wallets' first deposits, large enough for everything after.
begin;
do $$ begin
    execute format('grant temporary on database %I to guerdon_wallet_owner', current_database());
end $$;
set local role guerdon_wallet_owner;
set local work_mem = '256MB';

insert into wallet.wallets (id, name, locked, reference, created_at, updated_at)
select ('0000000d-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'List ' || n, false,
    'list' || n, '2026-01-01', '2026-01-01'
from generate_series(0, 1001) n;

create temporary table made on commit drop as
select n, ('00000000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid as id,
    case when n <= 1002 or n % 10 = 0 then 'deposit' when n % 10 = 5 then 'withdrawal'
        else 'transfer' end as type,
    n > 1002 and n % 50 in (7, 8) as pending,
    case when n <= 1002 then 10000000 else 1 + n % 9 end::numeric(28, 8) as amount,
    case when n <= 1002 then n - 1 when n % 2 = 0 then 0
        when n < 50000 and n % 50 = 1 then 1001 else 1 + (n * 7919) % 1000 end as first,
    1 + (n * 104729 + 1) % 1000 as second,
    '2026-01-01'::timestamptz + n * interval '20 seconds' as at
from generate_series(1::bigint, :count) n;
-- Two different wallets to a transfer.
update made set second = 1 + second % 1000 where first = second;

create temporary table sides on commit drop as
select *,
    case when type = 'deposit' then null
        else ('0000000d-0000-7000-8000-' || lpad(to_hex(first), 12, '0'))::uuid end as origin,
    case type when 'deposit' then ('0000000d-0000-7000-8000-' || lpad(to_hex(first), 12, '0'))::uuid
        when 'transfer' then ('0000000d-0000-7000-8000-' || lpad(to_hex(second), 12, '0'))::uuid
        end as destination,
    case when type <> 'transfer' then '00000000-0000-7000-8000-000000000001'::uuid end as external
from made;

insert into wallet.transactions (
    id, type, code, status, asset_code, amount, origin_wallet_id, destination_wallet_id,
    system_wallet_id, external_reference, reference, metadata, version, processed_at, created_at,
    updated_at)
select id, type, 'internal', case when pending then 'pending' else 'confirmed' end, 'usd', amount,
    origin, destination, external, 'invoice-' || n, 'list' || n,
    case type when 'deposit' then '{"data":{}}' else '{}' end, case when pending then 1 else 2 end,
    case when not pending then at end, at, at
from sides order by n;

insert into wallet.transaction_changes (
    transaction_id, version, from_status, to_status, actor, created_at)
select id, 1, null, 'pending', 'service:load', at from sides
union all
select id, 2, 'pending', 'confirmed', 'service:load', at from sides
where not pending;

insert into wallet.movements (
    id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code, created_at)
select wallet.movement_id(id, at, side), wallet_id, 'usd', row_number() over w, id, amount, sum(amount) over w,
    type, at
from (
    select n, id, type, at, 0 as side, coalesce(origin, external) as wallet_id, -amount as amount
    from sides where not pending
    union all
    select n, id, type, at, 1, coalesce(destination, external), amount
    from sides where not pending) legs
window w as (partition by wallet_id order by n);

insert into wallet.balances (
    wallet_id, asset_code, amount, held, incoming, sequence, moved_at, used, system)
select w.id, 'usd', coalesce(m.amount, 0), coalesce(h.amount, 0), coalesce(i.amount, 0),
    coalesce(m.movements, 0), coalesce(m.at, 'epoch'), true, w.system
from wallet.wallets w
left join (
    select wallet_id, sum(amount) as amount, count(*) as movements, max(created_at) as at
    from wallet.movements group by wallet_id) m on m.wallet_id = w.id
left join (
    select origin as id, sum(amount) as amount from sides where pending group by origin) h
    on h.id = w.id
left join (
    select destination as id, sum(amount) as amount from sides where pending group by destination) i
    on i.id = w.id
where w.id = '00000000-0000-7000-8000-000000000001' or w.reference ~ '^list[0-9]+$';

commit;
