-- Checks the next movements, and that their transactions and balances exist. Each movement is compared
-- with the one before it, so the last one's balance_after is the sum of all, and its sequence is their
-- number.
with slice as (
    select wallet_id, asset_code, sequence, transaction_id, amount, balance_after, id, created_at
    from wallet.movements
    where (wallet_id, asset_code, sequence) > ($1, $2, $3)
    order by wallet_id, asset_code, sequence
    limit $4),
slice_and_last as (
    select * from slice
    union all
    select wallet_id, asset_code, sequence, transaction_id, amount, balance_after, id, created_at
    from wallet.movements
    where wallet_id = $1 and asset_code = $2 and sequence = $3),
followed as (
    select *, lag(sequence, 1, 0::bigint) over account as sequence_before,
        lag(balance_after, 1, 0::numeric) over account as balance_before
    from slice_and_last
    window account as (partition by wallet_id, asset_code order by sequence)),
checked as (
    select followed.*, t.status, t.processed_at, balance.is_found
    from followed
    left join wallet.transactions t on t.id = followed.transaction_id
    -- Looked up once an account.
    left join lateral (
        select true as is_found from wallet.balances b
        where sequence_before = 0 and b.wallet_id = followed.wallet_id
            and b.asset_code = followed.asset_code
        limit 1) balance on true
    where (followed.wallet_id, followed.asset_code, followed.sequence) <> ($1, $2, $3)),
found (rule, place) as (
    select 'each balance_after is the sum of the movements up to it',
        format('%s %s, movement %s', wallet_id, asset_code, sequence)
    from checked where balance_after <> balance_before + amount
    union all
    select 'sequences of movements have no gaps',
        format('%s %s: movement %s follows %s', wallet_id, asset_code, sequence, sequence_before)
    from checked where sequence <> sequence_before + 1
    union all
    select 'a balance is the sum of its movements',
        format('%s %s: no balance', wallet_id, asset_code)
    from checked where sequence_before = 0 and is_found is null
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
select rules, places, wallet_id as last_id, asset_code as last_name, sequence as last_sequence
from (select array_agg(rule) as rules, array_agg(place) as places from found) violations
left join (
    select wallet_id, asset_code, sequence from slice
    order by wallet_id desc, asset_code desc, sequence desc
    limit 1) last on (select count(*) from slice) = $4
