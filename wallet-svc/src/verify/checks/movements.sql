-- Checks the next movements, and that their transactions and balances exist. Each movement is compared
-- with the one before it of its wallet and asset, so the last one's balance_after is the sum of all, and
-- its sequence is their number. In the order of ids, which is that of time, the rows of both tables are
-- read as they were written.
with slice as (
    select id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, created_at
    from wallet.movements
    where id > $1
    order by id
    limit $3),
numbered as (
    select *, lag(sequence) over account as sequence_in_slice,
        lag(balance_after) over account as balance_in_slice
    from slice
    window account as (partition by wallet_id, asset_code order by sequence)),
followed as (
    select numbered.*,
        case
            when sequence = 1 then 0
            when sequence_in_slice = sequence - 1 then balance_in_slice
            else before.balance_after
        end as balance_before
    from numbered
    -- Looked up mostly once an account.
    left join lateral (
        select m.balance_after from wallet.movements m
        where numbered.sequence_in_slice is distinct from numbered.sequence - 1
            and m.wallet_id = numbered.wallet_id and m.asset_code = numbered.asset_code
            and m.sequence = numbered.sequence - 1
        limit 1) before on true),
checked as (
    select followed.*, t.status, t.processed_at, balance.is_found
    from followed
    left join wallet.transactions t on t.id = followed.transaction_id
    left join lateral (
        select true as is_found from wallet.balances b
        where followed.sequence = 1 and b.wallet_id = followed.wallet_id
            and b.asset_code = followed.asset_code
        limit 1) balance on true),
found (rule, place) as (
    select 'each balance_after is the sum of the movements up to it',
        format('%s %s, movement %s', wallet_id, asset_code, sequence)
    from checked where balance_after <> balance_before + amount
    union all
    select 'sequences of movements have no gaps',
        format('%s %s: no movement %s', wallet_id, asset_code, sequence - 1)
    from checked where balance_before is null
    union all
    select 'a balance is the sum of its movements',
        format('%s %s: no balance', wallet_id, asset_code)
    from checked where sequence = 1 and is_found is null
    union all
    select 'only a confirmed transaction has movements',
        format('%s: movement %s', transaction_id, id)
    from checked where status is distinct from 'confirmed'
    union all
    select 'a movement has an id and the time of its transaction',
        format('%s: movement %s', transaction_id, id)
    from checked
    where status = 'confirmed' and (created_at is distinct from processed_at
        or id <> wallet.movement_id(transaction_id, processed_at, get_byte(uuid_send(id), 15) % 16)
        or get_byte(uuid_send(id), 15) % 16 > 3))
select rules, places, id as last_id, '' as last_name
from (select array_agg(rule) as rules, array_agg(place) as places from found) violations
left join (select id from slice order by id desc limit 1) last
    on (select count(*) from slice) = $3
