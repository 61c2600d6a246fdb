-- A wallet's transactions are those it is the destination of, and of those it is the origin of, the
-- ones it is not the destination of: with the destination in the index they are counted there.
create index transactions_origin_covering_idx
    on wallet.transactions (origin_wallet_id, created_at, id) include (destination_wallet_id)
    where origin_wallet_id is not null;
drop index wallet.transactions_origin_idx;
alter index wallet.transactions_origin_covering_idx rename to transactions_origin_idx;
