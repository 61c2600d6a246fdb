-- The balances of a wallet ($1) in assets ($2) at a time ($3), inclusive. The movements of a balance are numbered
-- from 1 to its sequence, and their times never decrease.
select asset_code as "asset_code!", coalesce(moved.amount, 0) as "amount!: Amount",
    coalesce(debits.amount, 0) as "held!: Amount",
    coalesce(credits.amount, 0) as "incoming!: Amount"
from unnest($2::text[]) asset_code
left join lateral (
    -- A binary search: the movement `low` is not after the time, if there is one, and those after `high` are.
    with recursive search (low, high) as (
        select 0::bigint, b.sequence
        from wallet.balances b
        where b.wallet_id = $1 and b.asset_code = asset_code.asset_code
        union all
        select case when m.created_at <= $3 then m.sequence else s.low end,
            case when m.created_at <= $3 then s.high else m.sequence - 1 end
        from search s
        join wallet.movements m on m.wallet_id = $1 and m.asset_code = asset_code.asset_code
            and m.sequence = (s.low + s.high + 1) / 2
        where s.low < s.high)
    select m.balance_after as amount
    from search s
    join wallet.movements m on m.wallet_id = $1 and m.asset_code = asset_code.asset_code and m.sequence = s.low
    where s.low = s.high) moved on true
left join lateral (
    select sum(t.amount) as amount
    from wallet.transactions t
    where t.origin_wallet_id = $1 and t.asset_code = asset_code.asset_code
        and t.created_at <= $3 and t.processed_at is distinct from t.created_at
        and (t.processed_at is null or t.processed_at > $3)) debits on true
left join lateral (
    select sum(t.amount) as amount
    from wallet.transactions t
    where t.destination_wallet_id = $1 and t.asset_code = asset_code.asset_code
        and t.created_at <= $3 and t.processed_at is distinct from t.created_at
        and (t.processed_at is null or t.processed_at > $3)) credits on true
where coalesce(moved.amount, debits.amount, credits.amount) is not null
order by asset_code
