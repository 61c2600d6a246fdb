-- Everything a group of postings changes, in absolute numbers: right only if nothing of what it was
-- decided on has changed since it was read. Where it was read without locks, that shows here.
with created as (
    insert into wallet.transactions (
        id, type, code, status, asset_code, amount, origin_wallet_id, destination_wallet_id,
        system_wallet_id, reference, metadata, operation_id, operation_index, version,
        processed_at, description, origin_address, destination_address, external_reference,
        custom_data, created_at, refunds_id, updated_at)
    select *, created_at
    from unnest(
        $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::uuid[],
        $8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::integer[],
        $14::bigint[], $15::timestamptz[], $16::text[], $17::text[], $18::text[], $19::text[],
        $20::text[], $21::timestamptz[],
        $22::uuid[]) as given (
        id, type, code, status, asset_code, amount, origin_wallet_id, destination_wallet_id,
        system_wallet_id, reference, metadata, operation_id, operation_index, version,
        processed_at, description, origin_address, destination_address, external_reference,
        custom_data, created_at, refunds_id)),
changed as (
    update wallet.transactions
    set status = given.status, metadata = given.metadata, version = given.version,
        processed_at = given.processed_at, updated_at = $60::timestamptz
    from unnest(
        $23::uuid[], $24::text[], $25::text[], $26::bigint[], $27::timestamptz[]) as given (
        id, status, metadata, version, processed_at)
    where transactions.id = given.id
    returning 1),
moved as (
    insert into wallet.movements (
        id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code,
        created_at)
    select given.*, $60::timestamptz
    from unnest(
        $28::uuid[], $29::uuid[], $30::text[], $31::bigint[], $32::uuid[], $33::numeric[],
        $34::numeric[], $35::text[]) as given),
stepped as (
    insert into wallet.transaction_changes (
        transaction_id, version, from_status, to_status, actor, created_at)
    select given.*, $60::timestamptz
    from unnest(
        $36::uuid[], $37::bigint[], $38::text[], $39::text[], $40::text[]) as given),
balanced as (
    update wallet.balances
    set amount = given.amount, held = given.held, incoming = given.incoming, sequence = given.sequence,
        moved_at = given.moved_at, version = given.version + 1, used = true
    from unnest(
        $41::uuid[], $42::text[], $43::numeric[], $44::numeric[], $45::numeric[], $46::bigint[],
        $47::timestamptz[], $48::bigint[]) as given (
        wallet_id, asset_code, amount, held, incoming, sequence, moved_at, version)
    where balances.wallet_id = given.wallet_id and balances.asset_code = given.asset_code
        and balances.version = given.version
    returning 1),
rewarded as (
    insert into wallet.order_bonuses (
        order_id, wallet_id, asset_code, granted, revoked, credited, owed, created_at, updated_at)
    select given.*, $60::timestamptz
    from unnest(
        $49::uuid[], $50::uuid[], $51::text[], $52::numeric[], $53::numeric[], $54::numeric[],
        $55::numeric[], $56::timestamptz[]) as given
    on conflict (order_id) do update
    set granted = excluded.granted, revoked = excluded.revoked, credited = excluded.credited,
        owed = excluded.owed, updated_at = excluded.updated_at),
keyed as (
    insert into wallet.idempotency_keys (scope, request_hash, answer)
    select * from unnest($57::bytea[], $58::bytea[], $59::bytea[])),
told as (
    insert into wallet.outbox (
        id, event_type, aggregate_kind, aggregate_id, aggregate_version, body, traceparent)
    select * from unnest(
        $61::uuid[], $62::text[], $63::text[], $64::uuid[], $65::bigint[], $66::bytea[],
        $67::text[])
    returning position),
pending as (
    insert into wallet.outbox_pending
    select min(position), max(position)
    from (select position, position - row_number() over (order by position) as run from told) runs
    group by run),
ruled as (
    select 1 from unnest($68::text[], $69::bigint[]) as given (code, version)
    join wallet.assets on assets.code = given.code and assets.version = given.version
    for share of assets)
select wallet.ensure_current(
    (select count(*) from changed) + (select count(*) from balanced) + (select count(*) from ruled),
    $70)
