/* posting.write */
-- Writes everything that a batch changes, in absolute numbers. Fails as a whole if a balance or asset
-- has another version than the batch was decided on, which can only be if it was read without locks,
-- or if the time of an operation is over.
with inserted_batch as (
    insert into wallet.posted_batches (id) values (:batch)),
inserted_transactions as (
    insert into wallet.transactions (:transactions.columns, updated_at)
    select input.*, input.created_at from :transactions.rows),
inserted_movements as (
    insert into wallet.movements (:movements.columns, created_at)
    select input.*, :now from :movements.rows),
inserted_changes as (
    insert into wallet.transaction_changes (:changes.columns, created_at)
    select input.*, :now from :changes.rows),
updated_balances as (
    update wallet.balances
    set amount = input.amount, held = input.held, incoming = input.incoming, sequence = input.sequence,
        moved_at = input.moved_at, version = :version, used = true
    from :balances.rows
    where balances.wallet_id = input.wallet_id and balances.asset_code = input.asset_code
        and balances.version = input.version
    returning 1),
inserted_keys as (
    insert into wallet.idempotency_keys (:keys.columns)
    select input.* from :keys.rows),
inserted_events as (
    insert into wallet.outbox (:events.columns)
    select input.* from :events.rows
    returning position),
inserted_ranges as (
    insert into wallet.outbox_pending
    select min(position), max(position)
    from (
        select position, position - row_number() over (order by position) as range
        from inserted_events) positions
    group by range),
checked_assets as (
    select 1 from :assets.rows
    join wallet.assets on assets.code = input.code and assets.version = input.version
    for share of assets)
select wallet.ensure_current(
    (select count(*) from updated_balances) + (select count(*) from checked_assets), :expected,
    :not_after)
