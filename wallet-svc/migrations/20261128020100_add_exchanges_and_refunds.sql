-- Exchanges are transactions of one wallet, which is origin and destination, with the system wallet
-- `exchange` between; refunds name the transaction whose money they give back.

alter table wallet.transactions
    add column refunds_id uuid,
    drop constraint transactions_type_check,
    drop constraint transactions_sides_check,
    drop constraint transactions_wallets_check;

alter table wallet.transactions
    add constraint transactions_type_check
        check (type in ('deposit', 'exchange', 'transfer', 'withdrawal')),
    add constraint transactions_sides_check check (
        num_nonnulls(origin_wallet_id, destination_wallet_id, system_wallet_id)
            = case type when 'exchange' then 3 else 2 end
        and (type = 'deposit') = (origin_wallet_id is null)
        and (type = 'withdrawal') = (destination_wallet_id is null)),
    add constraint transactions_wallets_check
        check ((type = 'exchange') = (origin_wallet_id = destination_wallet_id));

create index transactions_refunds_id_idx
    on wallet.transactions (refunds_id) where refunds_id is not null;

-- What was ever open: tells what was held and expected at a past moment, and costs payments, which
-- are settled as they are made, nothing.
create index transactions_origin_open_idx
    on wallet.transactions (origin_wallet_id, created_at)
    where processed_at is distinct from created_at;
create index transactions_destination_open_idx
    on wallet.transactions (destination_wallet_id, created_at)
    where processed_at is distinct from created_at;
