-- A code of its own: under locks this can't happen, and must not be tried again as if two transactions
-- had met.
create or replace function wallet.ensure_current(written bigint, meant bigint) returns boolean
language plpgsql as $$
begin
    if written <> meant then
        raise exception '% of % rows are as they were read', written, meant using errcode = 'GD001';
    end if;
    return true;
end $$;
