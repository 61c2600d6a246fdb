-- A bonus may be in another asset than its order, and pay for a part of it. Null as the previous
-- version writes it: the bonus is in the order's asset, and so is what was paid.
alter table orders.orders
    add column bonus_decimal_places smallint,
    add constraint orders_bonus_decimal_places_check check (bonus_decimal_places between 0 and 8);

-- What a payment in another asset than the order's was worth in the order's.
alter table orders.payments
    add column covers numeric(28, 8),
    add constraint payments_covers_check
        check (covers > 0 and covers <= 99999999999999999999.99999999);
