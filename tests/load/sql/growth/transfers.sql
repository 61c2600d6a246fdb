-- The transfers :first to :last of a history, of 0.01 each, in sets, as the ledger would have written them. Every
-- second one is paid to the default wallet, the others are between two wallets; which ones is random.
begin;
set local synchronous_commit = off;
set local work_mem = '256MB';

create temporary table transfers on commit drop as
select n, at,
    (substr(wallet.first_id_of(at)::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as id,
    (:prefix || lpad(to_hex(origin), 12, '0'))::uuid as origin,
    case n % 2 when 1 then :default_wallet::uuid
        else (:prefix || lpad(to_hex(1 + (origin + other) % :count), 12, '0'))::uuid end as destination
from (
    select n, (:began_at + n * interval ':interval milliseconds')::timestamptz(3) as at,
        1 + floor(random() * :count)::integer as origin,
        -- Less than a whole round, so that it is another one.
        floor(random() * (:count - 1))::integer as other
    from generate_series(:first::bigint, :last) n) chosen;

create temporary table legs on commit drop as
select n, id, at, 0 as number, origin as wallet_id, -0.01 as amount from transfers
union all
select n, id, at, 1, destination, 0.01 from transfers;

-- A reference begins with 0, so that those of new transactions come after it in the index.
insert into wallet.transactions (
    id, type, code, status, asset_code, amount, origin_wallet_id, destination_wallet_id, reference,
    operation_id, operation_index, version, processed_at, created_at, updated_at)
select id, 'transfer', 'pay', 'confirmed', 'usd', 0.01, origin, destination, upper(lpad(to_hex(n), 16, '0')),
    'order:' || id || ':pay:1', 0, 1, at, at, at
from transfers order by n;

insert into wallet.transaction_changes (
    transaction_id, version, from_status, to_status, actor, created_at)
select id, 1, null, 'confirmed', 'service:orders-svc', at
from transfers order by n;

insert into wallet.balances (wallet_id, asset_code, used, system)
values (:default_wallet, 'usd', true, false)
on conflict do nothing;

insert into wallet.movements (
    id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code, created_at)
select wallet.movement_id(id, at, number), wallet_id, 'usd', sequence, id, amount, balance_after, 'transfer', at
from (
    select legs.*, b.sequence + row_number() over account as sequence,
        b.amount + sum(legs.amount) over account as balance_after
    from legs
    join wallet.balances b on b.wallet_id = legs.wallet_id and b.asset_code = 'usd'
    window account as (partition by legs.wallet_id order by n rows unbounded preceding)) numbered
order by n, number;

update wallet.balances b
set amount = b.amount + moved.amount, sequence = b.sequence + moved.count, moved_at = moved.at, used = true
from (
    select wallet_id, sum(amount) as amount, count(*) as count, max(at) as at
    from legs group by wallet_id) moved
where b.wallet_id = moved.wallet_id and b.asset_code = 'usd';

commit;
