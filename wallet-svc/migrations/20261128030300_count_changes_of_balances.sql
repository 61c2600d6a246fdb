-- Groups of new transactions are decided on what they read without locks; their write fails if any
-- of it has changed since. Raised with each change of the row and of its wallet.
alter table wallet.balances add column version bigint not null default 0;

-- Ends the statement that calls it unless it wrote as many rows as it meant to.
create function wallet.ensure_current(written bigint, meant bigint) returns boolean
language plpgsql as $$
begin
    if written <> meant then
        raise exception '% of % rows are as they were read', written, meant
            using errcode = 'serialization_failure';
    end if;
    return true;
end $$;
