-- Creates the roles and the database of the services: run by a superuser, with psql, any number of times.
--
--   psql -v database=guerdon -v owner_password=… -v app_password=… \
--        -v contexts="catalog,orders,wallet,identity" -f roles.sql
--
-- Each context has two roles. `guerdon_<context>_owner` migrates the schema, `guerdon_<context>_app` runs
-- the service; neither sees the schema of another context. Passwords that exist are not changed: set other
-- ones with `alter role`. Where each role has a password of its own (it should, in production), pass one
-- context at a time.

\set ON_ERROR_STOP on

select format('create role guerdon_%s_%s login password %L', context, kind, password)
from unnest(string_to_array(:'contexts', ',')) context,
     (values ('owner', :'owner_password'), ('app', :'app_password')) kinds (kind, password)
where not exists (select from pg_roles where rolname = format('guerdon_%s_%s', context, kind))
\gexec

-- A query or a lock that takes longer than a request is given up.
select format('alter role guerdon_%s_owner set lock_timeout = ''10s''', context),
       format('alter role guerdon_%s_app set statement_timeout = ''15s''', context),
       format('alter role guerdon_%s_app set lock_timeout = ''5s''', context),
       format('alter role guerdon_%s_app set idle_in_transaction_session_timeout = ''15s''', context)
from unnest(string_to_array(:'contexts', ',')) context
\gexec

select format('create database %I template template0 encoding ''UTF8''', :'database')
where not exists (select from pg_database where datname = :'database')
\gexec

revoke all on database :"database" from public;

select format('grant connect, create on database %I to guerdon_%s_owner', :'database', context),
       format('grant connect on database %I to guerdon_%s_app', :'database', context)
from unnest(string_to_array(:'contexts', ',')) context
\gexec

\connect :"database"
revoke all on schema public from public;
