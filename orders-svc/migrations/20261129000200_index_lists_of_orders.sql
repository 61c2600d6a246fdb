-- The lists sort by `created_at desc, id desc`: both keys in one direction, so that an index serves
-- the order and the row comparison of a cursor.

create index orders_created_at_id_idx on orders.orders (created_at, id);
create index orders_user_id_created_at_id_idx on orders.orders (user_id, created_at, id);
drop index orders.orders_created_at_idx;
drop index orders.orders_user_id_created_at_idx;
