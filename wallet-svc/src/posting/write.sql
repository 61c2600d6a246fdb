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
moved as (
    insert into wallet.movements (
        id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code,
        created_at)
    select given.*, $47::timestamptz
    from unnest(
        $23::uuid[], $24::uuid[], $25::text[], $26::bigint[], $27::uuid[], $28::numeric[],
        $29::numeric[], $30::text[]) as given),
stepped as (
    insert into wallet.transaction_changes (
        transaction_id, version, from_status, to_status, actor, created_at)
    select given.*, $47::timestamptz
    from unnest(
        $31::uuid[], $32::bigint[], $33::text[], $34::text[], $35::text[]) as given),
balanced as (
    update wallet.balances
    set amount = given.amount, held = given.held, incoming = given.incoming, sequence = given.sequence,
        moved_at = given.moved_at, version = given.version + 1, used = true
    from unnest(
        $36::uuid[], $37::text[], $38::numeric[], $39::numeric[], $40::numeric[], $41::bigint[],
        $42::timestamptz[], $43::bigint[]) as given (
        wallet_id, asset_code, amount, held, incoming, sequence, moved_at, version)
    where balances.wallet_id = given.wallet_id and balances.asset_code = given.asset_code
        and balances.version = given.version
    returning 1),
keyed as (
    insert into wallet.idempotency_keys (scope, request_hash, response)
    select * from unnest($44::bytea[], $45::bytea[], $46::bytea[])),
told as (
    insert into wallet.outbox (
        id, event_type, aggregate_kind, aggregate_id, aggregate_version, body, traceparent)
    select * from unnest(
        $48::uuid[], $49::text[], $50::text[], $51::uuid[], $52::bigint[], $53::bytea[],
        $54::text[])
    returning position),
pending as (
    insert into wallet.outbox_pending
    select min(position), max(position)
    from (select position, position - row_number() over (order by position) as run from told) runs
    group by run),
ruled as (
    select 1 from unnest($55::text[], $56::bigint[]) as given (code, version)
    join wallet.assets on assets.code = given.code and assets.version = given.version
    for share of assets)
select wallet.ensure_current(
    (select count(*) from balanced) + (select count(*) from ruled),
    $57)
