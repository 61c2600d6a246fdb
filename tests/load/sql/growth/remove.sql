-- Removes the payments since :started_at: the history that goes on is older, and times of a wallet never decrease.
begin;

create temporary table removed on commit drop as
select id from wallet.transactions where created_at >= :started_at;

delete from wallet.transaction_changes using removed where transaction_id = removed.id;
delete from wallet.movements where id >= wallet.first_id_of(:started_at);
delete from wallet.transactions using removed where transactions.id = removed.id;

update wallet.balances b
set amount = last.balance_after, sequence = last.sequence, moved_at = last.created_at
from wallet.balances moved
cross join lateral (
    select m.balance_after, m.sequence, m.created_at from wallet.movements m
    where m.wallet_id = moved.wallet_id and m.asset_code = moved.asset_code
    order by m.sequence desc
    limit 1) last
where moved.moved_at >= :started_at
    and b.wallet_id = moved.wallet_id and b.asset_code = moved.asset_code;

commit;
