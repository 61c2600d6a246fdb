-- Checks the movements of the next transactions. They sum to zero per transaction, so they also do
-- altogether.
with slice as (
    select id, type, status, asset_code, amount, origin_wallet_id, destination_wallet_id, metadata,
        processed_at
    from wallet.transactions
    where id > $1
    order by id
    limit $3),
settled as (
    select slice.id as transaction_id, m.asset_code, sum(m.amount) as sum, count(*) as movements,
        max(m.amount) as amount
    from slice
    join wallet.movements m on m.id between wallet.movement_id(slice.id, slice.processed_at, 0)
        and wallet.movement_id(slice.id, slice.processed_at, 3)
    group by slice.id, m.asset_code),
assets as (select transaction_id, count(*) as number from settled group by transaction_id),
found (rule, place) as (
    select 'movements sum to zero per transaction and asset',
        format('%s %s: %s', transaction_id, asset_code, sum)
    from settled where sum <> 0
    union all
    select 'a confirmed transaction has the two movements of its amount', t.id::text
    from slice t left join settled s on s.transaction_id = t.id
    where t.status = 'confirmed' and t.type <> 'exchange'
        and (s.movements, s.amount, s.asset_code) is distinct from (2, t.amount, t.asset_code)
    union all
    select 'an exchange has two movements of its amount and two of its quote amount', t.id::text
    from slice t
    left join settled base on base.transaction_id = t.id and base.asset_code = t.asset_code
    left join settled quote on quote.transaction_id = t.id
        and quote.asset_code = t.metadata::jsonb ->> 'quoteAssetCode'
    left join assets on assets.transaction_id = t.id
    where t.type = 'exchange'
        and ((base.movements, base.amount) is distinct from (2, t.amount)
            or (quote.movements, quote.amount)
                is distinct from (2, (t.metadata::jsonb ->> 'quoteAmount')::numeric)
            or assets.number <> 2)
    union all
    select 'held is the sum of open debits',
        format('%s %s: no balance, open debit %s', t.origin_wallet_id, t.asset_code, t.id)
    from slice t
    left join wallet.balances b
        on b.wallet_id = t.origin_wallet_id and b.asset_code = t.asset_code
    where t.status in ('pending', 'processing') and t.origin_wallet_id is not null
        and b.wallet_id is null
    union all
    select 'incoming is the sum of open credits',
        format('%s %s: no balance, open credit %s', t.destination_wallet_id, t.asset_code, t.id)
    from slice t
    left join wallet.balances b
        on b.wallet_id = t.destination_wallet_id and b.asset_code = t.asset_code
    where t.status in ('pending', 'processing') and t.destination_wallet_id is not null
        and b.wallet_id is null)
select rules, places, id as last_id, '' as last_name
from (select array_agg(rule) as rules, array_agg(place) as places from found) violations
left join (select id from slice order by id desc limit 1) last
    on (select count(*) from slice) = $3
