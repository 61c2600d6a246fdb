-- Checks the next bonuses against their transactions, which `transactions_bonus_idx` finds by the
-- order, and those of referrers against the reward that was recorded.
with slice as (
    select order_id, beneficiary, granted, credited, owed from wallet.order_bonuses
    where (order_id, beneficiary) > ($1, $2)
    order by order_id, beneficiary
    limit $3),
found (rule, place) as (
    select 'a bonus is the sum of its transactions, less what is owed',
        format('%s of %s: %s credited, %s owed, %s moved',
            order_id, beneficiary, credited, owed, moved)
    from slice cross join lateral (
        select coalesce(sum(case t.type when 'deposit' then t.amount else -t.amount end), 0) as moved
        from wallet.transactions t
        where t.code = 'internal'
            and (t.metadata like '{"reason":"bonus%' or t.metadata like '{"reason":"referral%')
            and substring(t.metadata from '"orderId":"([^"]*)"') = slice.order_id::text
            and case when t.metadata like '{"reason":"bonus%' then 'buyer' else 'referrer' end
                = slice.beneficiary) transactions
    where credited + owed <> moved
    union all
    select 'a referrer is granted the reward that was recorded',
        format('%s: %s granted, %s recorded', slice.order_id, slice.granted, r.amount)
    from slice left join wallet.referral_rewards r on r.order_id = slice.order_id
    where slice.beneficiary = 'referrer' and slice.granted is distinct from r.amount)
select rules, places, order_id as last_id, beneficiary as last_name
from (select array_agg(rule) as rules, array_agg(place) as places from found) violations
left join (
    select order_id, beneficiary from slice order by order_id desc, beneficiary desc limit 1) last
    on (select count(*) from slice) = $3
