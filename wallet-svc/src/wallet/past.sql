-- The balances of a wallet ($1) in assets ($2) at a time ($3), inclusive. The times of an account's
-- movements never decrease; within a millisecond, the sequence decides.
select asset_code as "asset_code!", coalesce(moved.amount, 0) as "amount!: Amount",
    coalesce(debits.amount, 0) as "held!: Amount",
    coalesce(credits.amount, 0) as "incoming!: Amount"
from unnest($2::text[]) asset_code
left join lateral (
    select m.balance_after as amount
    from wallet.movements m
    join (
        select last.created_at
        from wallet.movements last
        where last.wallet_id = $1 and last.asset_code = asset_code.asset_code
            and last.id < wallet.first_id_of($3::timestamptz + interval '1 millisecond')
        order by last.id desc
        limit 1) last on true
    where m.wallet_id = $1 and m.asset_code = asset_code.asset_code
        and m.id >= wallet.first_id_of(last.created_at)
        and m.id < wallet.first_id_of(last.created_at + interval '1 millisecond')
    order by m.sequence desc
    limit 1) moved on true
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
