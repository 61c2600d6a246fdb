-- :count wallets of one kind, each with a deposit of 1 000 000.00 usd at :created_at: what the ledger would
-- have written for them, in sets. `external` pays, so its movements go on where they were.
begin;
do $$ begin
    execute format('grant temporary on database %I to guerdon_wallet_owner', current_database());
end $$;
set local role guerdon_wallet_owner;

insert into wallet.wallets (id, name, locked, reference, created_at, updated_at)
select (:prefix || lpad(to_hex(n), 12, '0'))::uuid, 'Load ' || n, false, :kind || n, :created_at, :created_at
from generate_series(1, :count) n;

insert into wallet.balances (wallet_id, asset_code, amount, sequence, moved_at, used, system)
select (:prefix || lpad(to_hex(n), 12, '0'))::uuid, 'usd', 1000000, 1, :created_at, true, false
from generate_series(1, :count) n;

insert into wallet.balances (wallet_id, asset_code, used, system)
values ('00000000-0000-7000-8000-000000000001', 'usd', true, true)
on conflict do nothing;

create temporary table deposits on commit drop as
select n, gen_random_uuid() as id, (:prefix || lpad(to_hex(n), 12, '0'))::uuid as wallet_id,
    e.wallet_id as external, e.amount - 1000000::numeric(28, 8) * n as external_after,
    e.sequence + n as external_sequence
from generate_series(1, :count) n,
    (select wallet_id, amount, sequence from wallet.balances
     where wallet_id = '00000000-0000-7000-8000-000000000001' and asset_code = 'usd') e;

insert into wallet.transactions (
    id, type, code, status, asset_code, amount, destination_wallet_id, system_wallet_id, reference,
    metadata, version, processed_at, created_at, updated_at)
select id, 'deposit', 'internal', 'confirmed', 'usd', 1000000, wallet_id, external, :kind || n,
    '{"data":{}}', 2, :created_at, :created_at, :created_at
from deposits;

insert into wallet.movements (
    id, wallet_id, asset_code, sequence, transaction_id, amount, balance_after, code, created_at)
select wallet.movement_id(id, :created_at::timestamptz(3), 0), wallet_id, 'usd', 1, id, 1000000, 1000000, 'deposit', :created_at
from deposits
union all
select wallet.movement_id(id, :created_at::timestamptz(3), 1), external, 'usd', external_sequence, id, -1000000, external_after,
    'deposit', :created_at
from deposits;

insert into wallet.transaction_changes (
    transaction_id, version, from_status, to_status, actor, created_at)
select id, version, from_status, to_status, 'service:load', :created_at
from deposits, (values (1, null, 'processing'), (2, 'processing', 'confirmed'))
    steps (version, from_status, to_status);

update wallet.balances
set amount = last.external_after, sequence = last.external_sequence, moved_at = :created_at
from (select * from deposits order by n desc limit 1) last
where balances.wallet_id = last.external and balances.asset_code = 'usd';

commit;
