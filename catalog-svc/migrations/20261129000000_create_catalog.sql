-- Categories, tax rates, products, and the questions that buyers are asked. Rows that clients delete
-- stay, marked with deleted_at, because orders refer to them.
-- `version` counts an aggregate's events; it is raised by the update that makes the change.
-- `rank` is the public `order`: a decimal of at most 20 digits and 40 decimals.
-- `custom_data` is JSON text, returned as it was written and never parsed here.
-- `search` and `name_search` hold the words that a search finds; whatever writes the texts writes them
-- too, by src/words.rs. A tsvector that Postgres made would depend on the locale of the database.

create table catalog.categories (
    id uuid not null,
    title text not null,
    description text,
    image text,
    rank numeric not null,
    custom_data text not null,
    -- Of the title
    search tsvector not null,
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
    -- NaN sorts above every number, so the upper bound excludes it, here and below.
    constraint tax_rates_rate_check check (rate between 0 and 100),
    constraint tax_rates_version_check check (version > 0)
);
create index tax_rates_created_at_idx on catalog.tax_rates (created_at, id)
    where deleted_at is null;

-- Copy of the fields of wallet-svc's assets that prices need, as of the last lookup or AssetChanged
-- event, so that no read depends on wallet-svc.
create table catalog.assets (
    code text not null,
    decimal_places smallint not null,
    -- The version in the last AssetChanged event; 0 before the first
    version bigint not null default 0,
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
    -- Of the name and the description
    search tsvector not null,
    -- A search puts products with its words in their names first. Weights in `search` would be too
    -- slow for that: the index does not hold them, so each match would have to be read.
    name_search tsvector not null,
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
-- Lists of shops count the visible ones.
create index products_rank_idx on catalog.products (rank, id) include (visible)
    where deleted_at is null;
create index products_created_at_idx on catalog.products (created_at, id)
    where deleted_at is null;
create index products_category_id_idx on catalog.products (category_id, rank, id)
    where deleted_at is null;
create index products_tax_rate_id_idx on catalog.products (tax_rate_id)
    where deleted_at is null;
create index products_search_idx on catalog.products using gin (search) where deleted_at is null;
create index products_name_search_idx on catalog.products using gin (name_search)
    where deleted_at is null;

-- Fixed rows, for clients to read; catalog_svc::question knows them too.
create table catalog.question_types (
    code text not null,
    name text not null,
    -- JSON Schema of an answer, without the choices
    json_schema_template text not null,
    created_at timestamptz(3) not null,
    constraint question_types_pkey primary key (code)
);
insert into catalog.question_types (code, name, json_schema_template, created_at) values
    ('date', 'Date', '{"format":"date","type":"string"}', '2026-11-28T00:00:00Z'),
    ('multiple', 'Multiple choice', '{"items":{"enum":[],"type":"string"},"type":"array","uniqueItems":true}', '2026-11-28T00:00:00Z'),
    ('single', 'Single choice', '{"enum":[],"type":"string"}', '2026-11-28T00:00:00Z'),
    ('text', 'Text', '{"type":"string"}', '2026-11-28T00:00:00Z'),
    ('time', 'Time', '{"format":"time","type":"string"}', '2026-11-28T00:00:00Z');

create table catalog.questions (
    id uuid not null,
    title text not null,
    description text,
    type_code text not null,
    product_type_code text not null,
    required boolean not null,
    -- JSON text as the client wrote it
    configurations text not null,
    -- The choices in it
    choices text[] not null,
    custom_data text not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    constraint questions_pkey primary key (id),
    constraint questions_type_code_fkey foreign key (type_code)
        references catalog.question_types (code),
    constraint questions_title_check check (char_length(title) between 1 and 255),
    constraint questions_description_check check (char_length(description) <= 10000),
    constraint questions_product_type_code_check
        check (product_type_code in ('digital', 'physical', 'service')),
    constraint questions_configurations_check check (octet_length(configurations) <= 16384),
    constraint questions_choices_check
        check ((type_code in ('multiple', 'single')) = (cardinality(choices) > 0)),
    constraint questions_custom_data_check check (octet_length(custom_data) <= 16384)
);
create index questions_created_at_idx on catalog.questions (created_at, id)
    where deleted_at is null;

-- Links of products and questions; no row is kept of a link that was removed.
create table catalog.product_questions (
    product_id uuid not null,
    question_id uuid not null,
    rank numeric not null,
    constraint product_questions_pkey primary key (product_id, question_id),
    constraint product_questions_product_id_fkey foreign key (product_id)
        references catalog.products (id),
    constraint product_questions_question_id_fkey foreign key (question_id)
        references catalog.questions (id),
    constraint product_questions_rank_check
        check (rank >= 0 and rank < 1e20 and scale(rank) <= 40)
);
create index product_questions_question_id_idx on catalog.product_questions (question_id);

-- What pages and quotes of products show stays the same while this version does. Random, not a counter: after a restore
-- a counter would repeat its values for other rows.
create table catalog.products_version (
    is_only boolean not null default true,
    version uuid not null default gen_random_uuid(),
    constraint products_version_pkey primary key (is_only),
    constraint products_version_is_only_check check (is_only)
);
insert into catalog.products_version default values;

-- Changes the version once a transaction. Deferred: transactions wait for each other only to commit.
create function catalog.change_products_version() returns trigger
language plpgsql as $$
begin
    update catalog.products_version set version = gen_random_uuid()
    where xmin <> pg_current_xact_id()::xid;
    return null;
end $$;
create constraint trigger change_products_version after insert or update or delete on catalog.categories
    deferrable initially deferred for each row execute function catalog.change_products_version();
create constraint trigger change_products_version after insert or update or delete on catalog.tax_rates
    deferrable initially deferred for each row execute function catalog.change_products_version();
create constraint trigger change_products_version after insert or update or delete on catalog.assets
    deferrable initially deferred for each row execute function catalog.change_products_version();
create constraint trigger change_products_version after insert or update or delete on catalog.products
    deferrable initially deferred for each row execute function catalog.change_products_version();
create constraint trigger change_products_version after insert or update or delete on catalog.questions
    deferrable initially deferred for each row execute function catalog.change_products_version();
create constraint trigger change_products_version after insert or update or delete on catalog.product_questions
    deferrable initially deferred for each row execute function catalog.change_products_version();

-- Only links are ever deleted.
grant usage on schema catalog to guerdon_catalog_app;
grant select on catalog.question_types to guerdon_catalog_app;
grant select, insert, update on catalog.categories, catalog.tax_rates, catalog.assets,
    catalog.products, catalog.questions to guerdon_catalog_app;
grant select, update on catalog.products_version to guerdon_catalog_app;
grant select, insert, update, delete on catalog.product_questions to guerdon_catalog_app;
