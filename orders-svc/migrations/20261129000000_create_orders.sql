-- Orders, their lines, their payments, and the operations in progress.

create table orders.orders (
    id uuid not null,
    reference text not null,
    user_id uuid not null,
    -- The buyer's primary wallet when the order was created: pays by default, receives the bonus.
    wallet_id uuid not null,
    asset_code text not null,
    asset_decimal_places smallint not null,
    amount numeric(28, 8) not null,
    taxes_amount numeric(28, 8) not null,
    shipping_amount numeric(28, 8) not null,
    -- JSON array: rate, taxableAmount and taxAmount of the lines with that rate
    taxes jsonb not null,
    bonus numeric(28, 8) not null,
    bonus_asset_code text not null,
    -- Null if the bonus is in the order's asset
    bonus_decimal_places smallint,
    bonus_skipped text,
    bonus_revoked numeric(28, 8) not null,
    -- The part of the revoked bonus that the buyer did not have, and still owes; null if none
    bonus_owed numeric(28, 8),
    -- Version of the last event about it
    bonus_owed_version bigint not null default 0,
    -- Net of refunds.
    paid_amount numeric(28, 8) not null,
    order_status text not null,
    payment_status text not null,
    delivery_method text,
    shipping_address_id text,
    tracking_id uuid,
    chosen_payment_method text,
    user_notes text,
    -- JSON text
    cancel_reason text,
    -- JSON text as the client wrote it
    custom_data text not null,
    -- Number of claims so far; numbers the operations on the ledger.
    claims integer not null,
    -- Number of events so far
    version bigint not null,
    paid_at timestamptz(3),
    fulfilled_at timestamptz(3),
    canceled_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint orders_pkey primary key (id),
    constraint orders_reference_key unique (reference),
    constraint orders_reference_check check (reference ~ '^[0-9A-Z]{8}$'),
    constraint orders_asset_decimal_places_check check (asset_decimal_places between 0 and 8),
    -- NaN sorts above every number, so that `between` excludes it.
    constraint orders_amount_check check (amount between 0 and 99999999999999999999.99999999),
    constraint orders_taxes_amount_check check (taxes_amount between 0 and amount),
    constraint orders_shipping_amount_check check (shipping_amount between 0 and amount),
    constraint orders_paid_amount_check check (paid_amount between 0 and amount),
    constraint orders_bonus_check check (bonus between 0 and 99999999999999999999.99999999),
    constraint orders_bonus_decimal_places_check check (bonus_decimal_places between 0 and 8),
    constraint orders_bonus_revoked_check check (bonus_revoked between 0 and bonus),
    constraint orders_bonus_owed_check
        check (bonus_owed > 0 and bonus_owed <= 99999999999999999999.99999999),
    constraint orders_order_status_check
        check (order_status in ('draft', 'unfulfilled', 'fulfilled', 'canceled')),
    constraint orders_payment_status_check check (
        payment_status in ('unpaid', 'paid', 'fully_paid', 'partially_refunded', 'fully_refunded')
    ),
    constraint orders_delivery_method_check check (delivery_method in ('shipping', 'pickup')),
    constraint orders_canceled_at_check
        check ((canceled_at is not null) = (order_status = 'canceled')),
    constraint orders_fulfilled_at_check
        check ((fulfilled_at is not null) = (order_status = 'fulfilled'))
);
-- The lists sort by `created_at desc, id desc`: both keys in one direction, so that an index serves
-- the order and the row comparison of a cursor.
create index orders_created_at_id_idx on orders.orders (created_at, id);
create index orders_user_id_created_at_id_idx on orders.orders (user_id, created_at, id);

create table orders.order_lines (
    id uuid not null,
    order_id uuid not null,
    -- From 0, as the client gave them.
    position integer not null,
    product_id uuid not null,
    -- The product at the time of the order. Only a single line shows all of it, which may be long: orders
    -- and lists read its name alone.
    product_name text not null,
    product jsonb not null,
    quantity integer not null,
    fulfilled_quantity integer not null,
    -- Units that were refunded as such
    refunded_quantity integer not null default 0,
    status text not null,
    unit_price numeric(28, 8) not null,
    unit_tax numeric(28, 8) not null,
    tax_rate numeric(28, 8),
    unit_bonus numeric(28, 8) not null,
    asset_code text not null,
    bonus_asset_code text not null,
    -- JSON object as the client wrote it: question id to answer; null without answers
    answers text,
    fulfilled_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint order_lines_pkey primary key (id),
    constraint order_lines_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint order_lines_order_id_position_key unique (order_id, position),
    constraint order_lines_quantity_check check (quantity between 1 and 1000000),
    constraint order_lines_fulfilled_quantity_check
        check (fulfilled_quantity between 0 and quantity),
    constraint order_lines_refunded_quantity_check
        check (refunded_quantity between 0 and quantity),
    constraint order_lines_status_check
        check (status in ('unfulfilled', 'partially_fulfilled', 'fulfilled', 'canceled')),
    constraint order_lines_unit_price_check
        check (unit_price between 0 and 99999999999999999999.99999999),
    constraint order_lines_unit_tax_check
        check (unit_tax between 0 and 99999999999999999999.99999999),
    constraint order_lines_tax_rate_check check (tax_rate between 0 and 100),
    constraint order_lines_unit_bonus_check
        check (unit_bonus between 0 and 99999999999999999999.99999999),
    constraint order_lines_answers_check check (octet_length(answers) <= 16384)
);

-- Payments of orders, one row for each transaction.
create table orders.payments (
    -- The transaction in the wallet context.
    transaction_id uuid not null,
    order_id uuid not null,
    -- Sequence of the claim, and index among its legs: the newest payment is refunded first.
    claim integer not null,
    leg integer not null,
    wallet_id uuid not null,
    asset_code text not null,
    amount numeric(28, 8) not null,
    -- The value in the order's asset; null if the payment is in that asset
    order_amount numeric(28, 8),
    -- Whether it is the part of `useBonus`
    is_bonus boolean not null,
    refunded_amount numeric(28, 8) not null,
    -- The value of the refunds in the order's asset
    refunded_value numeric(28, 8) not null,
    created_at timestamptz(3) not null,
    constraint payments_pkey primary key (transaction_id),
    constraint payments_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint payments_order_id_claim_leg_key unique (order_id, claim, leg),
    constraint payments_amount_check
        check (amount > 0 and amount <= 99999999999999999999.99999999),
    constraint payments_order_amount_check
        check (order_amount > 0 and order_amount <= 99999999999999999999.99999999),
    constraint payments_refunded_amount_check check (refunded_amount between 0 and amount),
    constraint payments_refunded_value_check
        check (refunded_value between 0 and coalesce(order_amount, amount))
);

-- Refunds, also those of cancellations. Append-only.
create table orders.refunds (
    id uuid not null,
    order_id uuid not null,
    -- Sequence of the claim.
    claim integer not null,
    -- In the order's asset.
    amount numeric(28, 8) not null,
    -- JSON array of line ids and quantities; null if an amount was refunded
    lines jsonb,
    -- JSON text
    reason text,
    -- Who asked for it, as in the audit log.
    actor text not null,
    created_at timestamptz(3) not null,
    constraint refunds_pkey primary key (id),
    constraint refunds_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint refunds_order_id_claim_key unique (order_id, claim),
    constraint refunds_amount_check
        check (amount > 0 and amount <= 99999999999999999999.99999999)
);

-- The transactions of refunds. A refund has none where all of it is worth less than a unit of the asset
-- that paid. Append-only.
create table orders.refund_legs (
    -- The transaction in the wallet context.
    transaction_id uuid not null,
    refund_id uuid not null,
    payment_id uuid not null,
    amount numeric(28, 8) not null,
    -- The value in the order's asset; null if the payment is in that asset
    order_amount numeric(28, 8),
    constraint refund_legs_pkey primary key (transaction_id),
    constraint refund_legs_refund_id_fkey foreign key (refund_id) references orders.refunds (id),
    constraint refund_legs_payment_id_fkey
        foreign key (payment_id) references orders.payments (transaction_id),
    constraint refund_legs_amount_check
        check (amount > 0 and amount <= 99999999999999999999.99999999),
    constraint refund_legs_order_amount_check
        check (order_amount > 0 and order_amount <= 99999999999999999999.99999999)
);
create index refund_legs_refund_id_idx on orders.refund_legs (refund_id);

-- What happened to orders. Append-only.
create table orders.order_history (
    id uuid not null,
    order_id uuid not null,
    -- Numbers the entries of an order, from 1.
    sequence bigint not null,
    action text not null,
    -- Who did it, as in the audit log
    actor text not null,
    -- The states before the change; null if the order did not exist
    from_order_status text,
    order_status text not null,
    from_payment_status text,
    payment_status text not null,
    -- What was paid or refunded, in the order's asset
    amount numeric(28, 8),
    -- JSON text
    reason text,
    -- For admins
    note text,
    -- JSON object: lines, fields, transactionIds
    details jsonb not null,
    created_at timestamptz(3) not null,
    constraint order_history_pkey primary key (id),
    constraint order_history_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint order_history_order_id_sequence_key unique (order_id, sequence),
    constraint order_history_action_check check (action in (
        'created', 'payment_received', 'paid', 'refunded', 'canceled', 'fulfilled', 'unfulfilled', 'updated',
        'note')),
    constraint order_history_note_check check ((note is not null) = (action = 'note'))
);

-- The operation in progress on an order, at most one: inserting the row is the claim.
create table orders.claims (
    order_id uuid not null,
    -- Numbers the claims of an order, from 1.
    sequence integer not null,
    action text not null,
    -- The transfers to post, and how the order changes once they are posted
    intent jsonb not null,
    -- Scope of the request's idempotency record, if it has one
    idempotency_scope bytea,
    -- The latest time at which the ledger may accept the transfers, the same in every call
    not_after timestamptz(3) not null,
    -- When the saga worker resumes it, by the database's clock; the request's own time at first
    due_at timestamptz(3) not null,
    -- How often it was resumed, and why the last time did not end it
    attempts integer not null default 0,
    last_error text,
    created_at timestamptz(3) not null default now(),
    constraint claims_pkey primary key (order_id),
    constraint claims_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint claims_action_check check (action in ('create', 'pay', 'cancel', 'refund'))
);
create index claims_due_at_idx on orders.claims (due_at);

grant usage on schema orders to guerdon_orders_app;
-- Only drafts whose payment was refused are deleted, with their lines.
grant select, insert, update, delete on orders.orders, orders.order_lines to guerdon_orders_app;
grant select, insert, update on orders.payments to guerdon_orders_app;
grant select, insert on orders.refunds, orders.refund_legs, orders.order_history to guerdon_orders_app;
grant select, insert, update, delete on orders.claims to guerdon_orders_app;
