-- A search puts products with its words in their names first. The weights in `search` can't say so
-- fast enough: an index does not hold them, so each match would have to be read.
alter table catalog.products add column name_search tsvector not null
    generated always as (catalog.words(name)) stored;
create index products_name_search_idx on catalog.products using gin (name_search)
    where deleted_at is null;
