-- Words of products and categories, for `filter[search]`. Text search in Postgres folds no accents by
-- itself, and not every installation has the extension that does.

-- Lower case and without accents, as platform::list reads the words that are searched for.
create function catalog.fold(text) returns text
    language sql immutable strict parallel safe
    return lower(translate(regexp_replace(normalize($1, nfkd), '[\u0300-\u036F]', '', 'g'),
        'ØøŁłĐđıÞþ', 'OoLlDdiTt'));

-- Letters and digits only: the parser of text search would take `red.shoes` for a host.
create function catalog.words(text) returns tsvector
    language sql immutable strict parallel safe
    return to_tsvector('simple'::regconfig,
        regexp_replace(catalog.fold($1), '[^[:alnum:]]+', ' ', 'g'));

alter table catalog.categories add column search tsvector not null
    generated always as (catalog.words(title)) stored;
alter table catalog.products add column search tsvector not null
    generated always as (
        setweight(catalog.words(name), 'A')
        || setweight(catalog.words(coalesce(description, '')), 'C')
    ) stored;
create index products_search_idx on catalog.products using gin (search) where deleted_at is null;
