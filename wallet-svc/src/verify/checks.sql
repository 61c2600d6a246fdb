-- Returns the violations of the rules of the ledger: the rule, and the rows concerned.
with moved as (
    select wallet_id, asset_code, sum(amount) as amount, count(*) as movements,
        max(sequence) as sequence
    from wallet.movements group by wallet_id, asset_code),
last as (
    select wallet_id, asset_code, balance_after
    from moved join wallet.movements using (wallet_id, asset_code, sequence)),
running as (
    select wallet_id, asset_code, sequence, balance_after,
        sum(amount) over (partition by wallet_id, asset_code order by sequence) as expected
    from wallet.movements),
debits as (
    select origin_wallet_id as wallet_id, asset_code, sum(amount) as amount
    from wallet.transactions
    where status in ('pending', 'processing') and origin_wallet_id is not null
    group by origin_wallet_id, asset_code),
credits as (
    select destination_wallet_id as wallet_id, asset_code, sum(amount) as amount
    from wallet.transactions
    where status in ('pending', 'processing') and destination_wallet_id is not null
    group by destination_wallet_id, asset_code),
settled as (
    select transaction_id, asset_code, sum(amount) as sum, count(*) as movements,
        max(amount) as amount
    from wallet.movements group by transaction_id, asset_code)
select 'movements sum to zero per asset' as rule, format('%s: %s', asset_code, sum(amount)) as place
from moved group by asset_code having sum(amount) <> 0
union all
select 'movements sum to zero per transaction and asset',
    format('%s %s: %s', transaction_id, asset_code, sum)
from settled where sum <> 0
union all
select 'a confirmed transaction has the two movements of its amount', t.id::text
from wallet.transactions t left join settled s on s.transaction_id = t.id
where t.status = 'confirmed' and t.type <> 'exchange'
    and (s.movements, s.amount, s.asset_code) is distinct from (2, t.amount, t.asset_code)
union all
select 'an exchange has two movements of its amount and two of its quote amount', t.id::text
from wallet.transactions t
left join settled base on base.transaction_id = t.id and base.asset_code = t.asset_code
left join settled quote on quote.transaction_id = t.id
    and quote.asset_code = t.metadata::jsonb ->> 'quoteAssetCode'
where t.type = 'exchange'
    and ((base.movements, base.amount) is distinct from (2, t.amount)
        or (quote.movements, quote.amount)
            is distinct from (2, (t.metadata::jsonb ->> 'quoteAmount')::numeric)
        or (select count(*) from settled s where s.transaction_id = t.id) <> 2)
union all
select 'only a confirmed transaction has movements', s.transaction_id::text
from settled s left join wallet.transactions t on t.id = s.transaction_id
where t.status is distinct from 'confirmed'
union all
select 'a balance is the sum of its movements',
    format('%s %s: %s, movements %s', wallet_id, asset_code, b.amount, m.amount)
from wallet.balances b full join moved m using (wallet_id, asset_code)
where coalesce(b.amount, 'NaN') <> coalesce(m.amount, 0)
union all
select 'a balance is the last balance_after of its movements',
    format('%s %s: %s, last %s', wallet_id, asset_code, b.amount, l.balance_after)
from wallet.balances b full join last l using (wallet_id, asset_code)
where coalesce(b.amount, 'NaN') <> coalesce(l.balance_after, 0)
union all
select 'each balance_after is the sum of the movements up to it',
    format('%s %s, movement %s', wallet_id, asset_code, sequence)
from running where balance_after <> expected
union all
select 'sequences of movements have no gaps',
    format('%s %s: %s movements up to %s, counted %s',
        wallet_id, asset_code, m.movements, m.sequence, b.sequence)
from wallet.balances b full join moved m using (wallet_id, asset_code)
where coalesce(m.movements, 0) <> coalesce(m.sequence, 0)
    or coalesce(m.movements, 0) <> coalesce(b.sequence, -1)
union all
select 'held is the sum of open debits',
    format('%s %s: %s, open debits %s', wallet_id, asset_code, b.held, d.amount)
from wallet.balances b full join debits d using (wallet_id, asset_code)
where coalesce(b.held, 0) <> coalesce(d.amount, 0)
union all
select 'incoming is the sum of open credits',
    format('%s %s: %s, open credits %s', wallet_id, asset_code, b.incoming, c.amount)
from wallet.balances b full join credits c using (wallet_id, asset_code)
where coalesce(b.incoming, 0) <> coalesce(c.amount, 0)
union all
select 'available is never negative', format('%s %s', wallet_id, asset_code)
from wallet.balances where not system and amount - held < 0
union all
select 'a bonus is the sum of its transactions, less what is owed',
    format('%s of %s: %s credited, %s owed, %s moved',
        b.order_id, b.beneficiary, b.credited, b.owed, sum(t.moved))
from wallet.order_bonuses b
left join (
    select metadata::jsonb ->> 'orderId' as order_id,
        case when metadata like '%"reason":"bonus%' then 'buyer' else 'referrer' end as beneficiary,
        case type when 'deposit' then amount else -amount end as moved
    from wallet.transactions
    where code = 'internal' and type <> 'transfer'
        and (metadata like '%"reason":"bonus%' or metadata like '%"reason":"referral%')) t
    on t.order_id = b.order_id::text and t.beneficiary = b.beneficiary
group by b.order_id, b.beneficiary having b.credited + b.owed <> coalesce(sum(t.moved), 0)
union all
select 'a referrer is granted the reward that was recorded',
    format('%s: %s granted, %s recorded', b.order_id, b.granted, r.amount)
from wallet.order_bonuses b
left join wallet.referral_rewards r on r.order_id = b.order_id
where b.beneficiary = 'referrer' and b.granted is distinct from r.amount
