-- Checks the next balances against their last movement and their open transactions.
with slice as (
    select wallet_id, asset_code, amount, held, incoming, sequence, system
    from wallet.balances
    where (wallet_id, asset_code) > ($1, $2)
    order by wallet_id, asset_code
    limit $3),
checked as (
    select slice.*, coalesce(last.balance_after, 0) as moved,
        coalesce(last.sequence, 0) as movements, debits.amount as debits, credits.amount as credits
    from slice
    left join lateral (
        select m.balance_after, m.sequence from wallet.movements m
        where m.wallet_id = slice.wallet_id and m.asset_code = slice.asset_code
        order by m.sequence desc limit 1) last on true
    -- An open transaction has no processed_at: the condition that the index needs.
    cross join lateral (
        select coalesce(sum(t.amount), 0) as amount from wallet.transactions t
        where t.origin_wallet_id = slice.wallet_id and t.asset_code = slice.asset_code
            and t.status in ('pending', 'processing')
            and t.processed_at is distinct from t.created_at) debits
    cross join lateral (
        select coalesce(sum(t.amount), 0) as amount from wallet.transactions t
        where t.destination_wallet_id = slice.wallet_id and t.asset_code = slice.asset_code
            and t.status in ('pending', 'processing')
            and t.processed_at is distinct from t.created_at) credits),
found (rule, place) as (
    select 'a balance is the sum of its movements',
        format('%s %s: %s, movements %s', wallet_id, asset_code, amount, moved)
    from checked where amount <> moved
    union all
    select 'sequences of movements have no gaps',
        format('%s %s: last movement %s, counted %s', wallet_id, asset_code, movements, sequence)
    from checked where sequence <> movements
    union all
    select 'held is the sum of open debits',
        format('%s %s: %s, open debits %s', wallet_id, asset_code, held, debits)
    from checked where held <> debits
    union all
    select 'incoming is the sum of open credits',
        format('%s %s: %s, open credits %s', wallet_id, asset_code, incoming, credits)
    from checked where incoming <> credits
    union all
    select 'available is never negative', format('%s %s', wallet_id, asset_code)
    from checked where not system and amount - held < 0)
select rules, places, wallet_id as last_id, asset_code as last_name
from (select array_agg(rule) as rules, array_agg(place) as places from found) violations
left join (
    select wallet_id, asset_code from slice
    order by wallet_id desc, asset_code desc
    limit 1) last on (select count(*) from slice) = $3
