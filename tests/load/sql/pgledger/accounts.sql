-- pgledger's accounts by number. They may go below zero: its check of that is a comparison.
create schema load;
create table load.accounts (number bigint primary key, id text not null);
insert into load.accounts (number, id)
select number, (pgledger_create_account('load ' || number, 'USD', true, true)).id
from generate_series(0, 100000) number;

create function load.account(wanted bigint) returns text language sql stable as $$
    select id from load.accounts where number = wanted
$$;
