-- What this context owns. Rows that clients delete stay, marked with deleted_at: orders name them.
-- `version` counts an aggregate's events; it is raised by the update that makes the change.
-- `rank` is the public `order`: a decimal of at most 20 digits and 40 decimals.
-- `custom_data` is JSON text that comes back as it was written, so nothing parses it.

create table catalog.categories (
    id uuid not null,
    title text not null,
    description text,
    image text,
    rank numeric not null,
    custom_data text not null,
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    constraint categories_pkey primary key (id),
    constraint categories_title_check check (char_length(title) between 1 and 255),
    constraint categories_description_check check (char_length(description) <= 10000),
    constraint categories_image_check check (char_length(image) between 1 and 2048),
    constraint categories_rank_check check (rank >= 0 and rank < 1e20 and scale(rank) <= 40),
    constraint categories_custom_data_check check (octet_length(custom_data) <= 16384),
    constraint categories_version_check check (version > 0)
);
create index categories_rank_idx on catalog.categories (rank, id) where deleted_at is null;
create index categories_created_at_idx on catalog.categories (created_at, id)
    where deleted_at is null;

create table catalog.tax_rates (
    id uuid not null,
    name text not null,
    -- Percent
    rate numeric(28, 8) not null,
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    constraint tax_rates_pkey primary key (id),
    constraint tax_rates_name_check check (char_length(name) between 1 and 255),
    -- NaN sorts above every number, so the upper bound keeps it out, here and below.
    constraint tax_rates_rate_check check (rate between 0 and 100),
    constraint tax_rates_version_check check (version > 0)
);
create index tax_rates_created_at_idx on catalog.tax_rates (created_at, id)
    where deleted_at is null;

-- What prices need of wallet-svc's assets, kept from the last time an asset was looked up for a
-- write, so that no read depends on wallet-svc.
create table catalog.assets (
    code text not null,
    decimal_places smallint not null,
    constraint assets_pkey primary key (code),
    constraint assets_decimal_places_check check (decimal_places between 0 and 8)
);

create table catalog.products (
    id uuid not null,
    name text not null,
    description text,
    category_id uuid not null,
    tax_rate_id uuid,
    asset_code text not null,
    -- Net
    price numeric(28, 8) not null,
    bonus numeric(28, 8) not null,
    type_code text not null,
    allow_choosing_quantity boolean not null,
    available boolean not null,
    featured boolean not null,
    visible boolean not null,
    requires_identity boolean not null,
    button_label text,
    list_label text,
    url text,
    image text,
    thumbnail text,
    rank numeric not null,
    custom_data text not null,
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    constraint products_pkey primary key (id),
    constraint products_category_id_fkey foreign key (category_id)
        references catalog.categories (id),
    constraint products_tax_rate_id_fkey foreign key (tax_rate_id)
        references catalog.tax_rates (id),
    constraint products_asset_code_fkey foreign key (asset_code)
        references catalog.assets (code),
    constraint products_name_check check (char_length(name) <= 255),
    constraint products_description_check check (char_length(description) <= 10000),
    constraint products_price_check check (price >= 0 and price < 1e19),
    constraint products_bonus_check check (bonus >= 0 and bonus < 1e19),
    constraint products_type_code_check check (type_code in ('digital', 'physical', 'service')),
    constraint products_button_label_check check (char_length(button_label) <= 2048),
    constraint products_list_label_check check (char_length(list_label) <= 2048),
    constraint products_url_check check (char_length(url) <= 2048),
    constraint products_image_check check (char_length(image) between 1 and 2048),
    constraint products_thumbnail_check check (char_length(thumbnail) between 1 and 2048),
    constraint products_rank_check check (rank >= 0 and rank < 1e20 and scale(rank) <= 40),
    constraint products_custom_data_check check (octet_length(custom_data) <= 16384),
    constraint products_version_check check (version > 0)
);
create index products_rank_idx on catalog.products (rank, id) where deleted_at is null;
create index products_created_at_idx on catalog.products (created_at, id)
    where deleted_at is null;
create index products_category_id_idx on catalog.products (category_id, rank, id)
    where deleted_at is null;
create index products_tax_rate_id_idx on catalog.products (tax_rate_id)
    where deleted_at is null;

-- No business row is ever deleted.
grant usage on schema catalog to guerdon_catalog_app;
grant select, insert, update on catalog.categories, catalog.tax_rates, catalog.assets,
    catalog.products to guerdon_catalog_app;
