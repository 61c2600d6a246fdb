-- What buyers are asked when they order a product, and which product asks it.

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

-- A link is no business row: nothing is remembered of one that was taken away.
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

grant select on catalog.question_types to guerdon_catalog_app;
grant select, insert, update on catalog.questions to guerdon_catalog_app;
grant select, insert, update, delete on catalog.product_questions to guerdon_catalog_app;
