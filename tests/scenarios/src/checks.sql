with ledger as (
    select t.metadata::jsonb ->> 'orderId' as order_id, t.asset_code,
        case t.code when 'pay' then t.origin_wallet_id else t.destination_wallet_id end as wallet_id,
        sum(case t.code when 'pay' then t.amount else -t.amount end) as net
    from wallet.transactions t
    where t.code in ('pay', 'refund') and t.status = 'confirmed'
        and t.metadata::jsonb ->> 'orderId' is not null
    group by 1, 2, 3),
booked as (
    select p.order_id::text, p.asset_code, p.wallet_id, sum(p.amount - p.refunded_amount) as net
    from orders.payments p
    group by 1, 2, 3),
paid as (
    select p.order_id, sum(coalesce(p.order_amount, p.amount)) as paid,
        sum(p.refunded_value) as refunded
    from orders.payments p
    group by 1),
units as (
    select l.order_id, bool_and(l.fulfilled_quantity = l.quantity) as all_fulfilled,
        bool_or(l.status = 'canceled') as any_canceled, bool_and(l.status = 'canceled') as all_canceled
    from orders.order_lines l
    group by 1),
found (rule, place) as (
    select 'what a wallet paid for an order and was given back is what the ledger moved',
        format('%s %s %s: %s, the ledger %s',
            order_id, wallet_id, asset_code, booked.net, ledger.net)
    from booked full join ledger using (order_id, asset_code, wallet_id)
    where booked.net is distinct from ledger.net
    union all
    select 'a payment is one transaction of the ledger', p.transaction_id::text
    from orders.payments p left join wallet.transactions t on t.id = p.transaction_id
    where (t.code, t.status, t.amount, t.asset_code, t.origin_wallet_id)
        is distinct from ('pay', 'confirmed', p.amount, p.asset_code, p.wallet_id)
    union all
    select 'no more of a payment is refunded than was paid', p.transaction_id::text
    from orders.payments p where p.refunded_amount > p.amount
    union all
    select 'the paid amount is the payments less the refunds',
        format('%s: %s, paid %s, refunded %s', o.id, o.paid_amount, paid.paid, paid.refunded)
    from orders.orders o left join paid on paid.order_id = o.id
    where o.paid_amount <> coalesce(paid.paid - paid.refunded, 0)
    union all
    select 'the refunds of an order are those of its payments',
        format('%s: %s, of payments %s', order_id, refunds.amount, paid.refunded)
    from paid full join (
        select r.order_id, sum(r.amount) as amount from orders.refunds r group by 1) refunds
        using (order_id)
    where coalesce(refunds.amount, 0) <> coalesce(paid.refunded, 0)
    union all
    select 'a part of a refund is one transaction of the ledger', l.transaction_id::text
    from orders.refund_legs l left join wallet.transactions t on t.id = l.transaction_id
    where (t.code, t.status, t.amount) is distinct from ('refund', 'confirmed', l.amount)
    union all
    select 'the payment status follows the amounts',
        format('%s: %s, %s of %s', o.id, o.payment_status, o.paid_amount, o.amount)
    from orders.orders o left join paid on paid.order_id = o.id
    where case o.payment_status
        when 'unpaid' then o.paid_amount <> 0 or o.amount = 0
        when 'paid' then o.paid_amount = 0 or o.paid_amount = o.amount
        when 'fully_paid' then o.paid_amount <> o.amount or o.paid_at is null
        when 'partially_refunded' then o.paid_amount = 0 or o.paid_amount = o.amount
        else o.paid_amount <> 0 end
    union all
    select 'the status of a line follows its units',
        format('%s: %s, %s of %s', l.id, l.status, l.fulfilled_quantity, l.quantity)
    from orders.order_lines l
    where l.fulfilled_quantity not between 0 and l.quantity
        or l.status <> case
            when l.status = 'canceled' and l.fulfilled_quantity = 0 then 'canceled'
            when l.fulfilled_quantity = 0 then 'unfulfilled'
            when l.fulfilled_quantity = l.quantity then 'fulfilled'
            else 'partially_fulfilled' end
    union all
    select 'the status of an order follows its lines', format('%s: %s', o.id, o.order_status)
    from orders.orders o join units on units.order_id = o.id
    where o.order_status <> case
        when units.any_canceled then 'canceled'
        when units.all_fulfilled then 'fulfilled'
        else 'unfulfilled' end
        or units.any_canceled <> units.all_canceled
    union all
    select 'the events of an order are numbered without a gap',
        format('%s: version %s, %s events', o.id, o.version, coalesce(e.count, 0))
    from orders.orders o
    left join (
        select aggregate_id, count(*) as count, max(aggregate_version) as last
        from orders.outbox
        where aggregate_kind = 'order'
        group by aggregate_id) e on e.aggregate_id = o.id
    where (coalesce(e.count, 0), coalesce(e.last, 0)) <> (o.version, o.version)
    union all
    select 'a bonus is granted and taken back once',
        format('%s: %s less %s, the ledger %s less %s',
            o.id, o.bonus, o.bonus_revoked, b.granted, b.revoked)
    from orders.orders o
    left join wallet.order_bonuses b on b.order_id = o.id and b.beneficiary = 'buyer'
    where o.paid_at is not null and o.bonus > 0
        and (b.granted, b.revoked) is distinct from (o.bonus, o.bonus_revoked)
    union all
    select 'an order that was never fully paid has no bonus', o.id::text
    from orders.orders o
    join wallet.order_bonuses b on b.order_id = o.id and b.beneficiary = 'buyer'
    where o.paid_at is null and b.credited > 0
    union all
    select 'the bonus is at most the share of it that is paid for',
        format('%s: %s less %s, paid %s of %s',
            o.id, o.bonus, o.bonus_revoked, o.paid_amount, o.amount)
    from orders.orders o
    where o.paid_at is not null and o.amount > 0
        and (o.bonus - o.bonus_revoked) * o.amount > o.bonus * o.paid_amount
    union all
    select 'no payment is unfinished', format('%s %s', c.order_id, c.action) from orders.claims c
    union all
    select 'no draft is left', o.id::text from orders.orders o where o.order_status = 'draft'
    union all
    select 'every event is published', schema || ' ' || position
    from (
        select 'catalog' as schema, first_position as position from catalog.outbox_pending
        union all select 'orders', first_position from orders.outbox_pending
        union all select 'wallet', first_position from wallet.outbox_pending
        union all select 'identity', first_position from identity.outbox_pending) pending
    union all
    select 'no event is a dead letter', schema || ': ' || count
    from (
        select 'catalog' as schema, count(*) from catalog.dead_letters
        union all select 'orders', count(*) from orders.dead_letters
        union all select 'wallet', count(*) from wallet.dead_letters
        union all select 'identity', count(*) from identity.dead_letters) letters
    where count > 0)
select rule, place from found
