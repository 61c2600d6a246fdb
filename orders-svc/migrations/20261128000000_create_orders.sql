-- Orders, their lines, the money that paid them, and what is under way.

create table orders.orders (
    id uuid not null,
    reference text not null,
    user_id uuid not null,
    -- The buyer's primary wallet when the order was placed: the default payer, and where the bonus goes.
    wallet_id uuid not null,
    asset_code text not null,
    asset_decimal_places smallint not null,
    amount numeric(28, 8) not null,
    taxes_amount numeric(28, 8) not null,
    shipping_amount numeric(28, 8) not null,
    bonus numeric(28, 8) not null,
    bonus_asset_code text not null,
    bonus_skipped text,
    bonus_revoked numeric(28, 8) not null,
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
    -- Claims ever made: numbers the operations on the ledger.
    claims integer not null,
    -- Events ever emitted.
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
    -- NaN sorts above every number, so that `between` keeps it out.
    constraint orders_amount_check check (amount between 0 and 99999999999999999999.99999999),
    constraint orders_taxes_amount_check check (taxes_amount between 0 and amount),
    constraint orders_shipping_amount_check check (shipping_amount between 0 and amount),
    constraint orders_paid_amount_check check (paid_amount between 0 and amount),
    constraint orders_bonus_check check (bonus between 0 and 99999999999999999999.99999999),
    constraint orders_bonus_revoked_check check (bonus_revoked between 0 and bonus),
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
create index orders_created_at_idx on orders.orders (created_at desc, id);
create index orders_user_id_created_at_idx on orders.orders (user_id, created_at desc, id);

create table orders.order_lines (
    id uuid not null,
    order_id uuid not null,
    -- From 0, as the client gave them.
    position integer not null,
    product_id uuid not null,
    -- The product as it was, for ever.
    product jsonb not null,
    quantity integer not null,
    fulfilled_quantity integer not null,
    status text not null,
    unit_price numeric(28, 8) not null,
    unit_tax numeric(28, 8) not null,
    tax_rate numeric(28, 8),
    unit_bonus numeric(28, 8) not null,
    asset_code text not null,
    bonus_asset_code text not null,
    fulfilled_at timestamptz(3),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint order_lines_pkey primary key (id),
    constraint order_lines_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint order_lines_order_id_position_key unique (order_id, position),
    constraint order_lines_quantity_check check (quantity between 1 and 1000000),
    constraint order_lines_fulfilled_quantity_check
        check (fulfilled_quantity between 0 and quantity),
    constraint order_lines_status_check
        check (status in ('unfulfilled', 'partially_fulfilled', 'fulfilled', 'canceled')),
    constraint order_lines_unit_price_check
        check (unit_price between 0 and 99999999999999999999.99999999),
    constraint order_lines_unit_tax_check
        check (unit_tax between 0 and 99999999999999999999.99999999),
    constraint order_lines_tax_rate_check check (tax_rate between 0 and 100),
    constraint order_lines_unit_bonus_check
        check (unit_bonus between 0 and 99999999999999999999.99999999)
);

-- Money that was taken for an order, one row a transaction.
create table orders.payments (
    -- The transaction in the wallet context.
    transaction_id uuid not null,
    order_id uuid not null,
    -- Of the claim that took it, and the place among its legs: the newest is refunded first.
    claim integer not null,
    leg integer not null,
    wallet_id uuid not null,
    asset_code text not null,
    amount numeric(28, 8) not null,
    refunded_amount numeric(28, 8) not null,
    created_at timestamptz(3) not null,
    constraint payments_pkey primary key (transaction_id),
    constraint payments_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint payments_order_id_claim_leg_key unique (order_id, claim, leg),
    constraint payments_amount_check
        check (amount > 0 and amount <= 99999999999999999999.99999999),
    constraint payments_refunded_amount_check check (refunded_amount between 0 and amount)
);

-- The operation under way on an order, at most one: inserting the row is the claim.
create table orders.claims (
    order_id uuid not null,
    n integer not null,
    kind text not null,
    -- What is asked of the ledger and what follows from it.
    plan jsonb not null,
    -- Of the request's idempotency record, if it has one.
    idempotency_scope bytea,
    -- Until then the process that took it drives it; after, whoever finds it.
    held_until timestamptz(3) not null,
    created_at timestamptz(3) not null,
    constraint claims_pkey primary key (order_id),
    constraint claims_order_id_fkey foreign key (order_id) references orders.orders (id),
    constraint claims_kind_check check (kind in ('create', 'pay', 'cancel'))
);
create index claims_held_until_idx on orders.claims (held_until);

-- grant: select, insert, update (published_at), delete
create table orders.outbox (
    id uuid not null,
    -- The order of insertion. Within an aggregate it is the order of versions, because a version is
    -- given out under the aggregate's row lock. It is never a cursor: sequences commit out of order.
    position bigint generated always as identity,
    -- Subject on JetStream and CloudEvents type in one: guerdon.<context>.v1.<Event>
    event_type text not null,
    aggregate_kind text not null,
    aggregate_id uuid not null,
    aggregate_version bigint not null,
    body bytea not null,
    traceparent text,
    created_at timestamptz(3) not null default now(),
    published_at timestamptz(3),
    constraint outbox_pkey primary key (id),
    constraint outbox_aggregate_version_key unique (aggregate_id, aggregate_kind, aggregate_version),
    constraint outbox_aggregate_version_check check (aggregate_version > 0)
);
create index outbox_unpublished_idx on orders.outbox (position) where published_at is null;
create index outbox_created_at_idx on orders.outbox using brin (created_at);

-- grant: select, insert, delete
create table orders.inbox (
    consumer text not null,
    event_id uuid not null,
    applied_at timestamptz(3) not null default now(),
    constraint inbox_pkey primary key (consumer, event_id)
);
create index inbox_applied_at_idx on orders.inbox using brin (applied_at);

-- Events that a consumer failed on: being tried again while parked_at is null, put aside after.
-- grant: select, insert, update, delete
create table orders.dead_letters (
    consumer text not null,
    event_id uuid not null,
    subject text not null,
    headers jsonb not null,
    body bytea not null,
    reason text not null,
    failures integer not null,
    first_failed_at timestamptz(3) not null default now(),
    last_failed_at timestamptz(3) not null default now(),
    parked_at timestamptz(3),
    constraint dead_letters_pkey primary key (consumer, event_id)
);

-- grant: select, insert, update, delete
create table orders.leases (
    name text not null,
    holder uuid not null,
    expires_at timestamptz(3) not null,
    constraint leases_pkey primary key (name)
);

-- grant: select, insert, update, delete
create table orders.idempotency_keys (
    -- SHA-256 of caller, method, path and key
    scope bytea not null,
    -- The gateway's keyed hash of the raw body
    request_hash bytea not null,
    -- The encoded answer; null while a saga is under way
    answer bytea,
    created_at timestamptz(3) not null default now(),
    constraint idempotency_keys_pkey primary key (scope)
);
create index idempotency_keys_created_at_idx on orders.idempotency_keys using brin (created_at);

grant usage on schema orders to guerdon_orders_app;
-- Only drafts whose payment was refused are deleted, with their lines.
grant select, insert, update, delete on orders.orders, orders.order_lines to guerdon_orders_app;
grant select, insert, update on orders.payments to guerdon_orders_app;
grant select, insert, update, delete on orders.claims to guerdon_orders_app;
grant select, insert, update (published_at), delete on orders.outbox to guerdon_orders_app;
grant select, insert, delete on orders.inbox to guerdon_orders_app;
grant select, insert, update, delete on orders.dead_letters, orders.leases,
    orders.idempotency_keys to guerdon_orders_app;
