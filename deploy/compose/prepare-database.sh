#!/bin/sh
# Roles and databases of docker-compose.yml: one for the service, one for Temporal, neither a superuser. It runs before each
# start, over the socket of the server, and may run again at any time. An installation whose tables belonged to the
# superuser gets the new owners. The superuser has no password afterwards: nobody can be it over the network.
set -eu
: "${MAILBOX_PASSWORD:?POSTGRES_PASSWORD is not set: see the top of docker-compose.yml}"
: "${TEMPORAL_PASSWORD:=$MAILBOX_PASSWORD}"
export MAILBOX_PASSWORD TEMPORAL_PASSWORD

ask() { psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@"; }

# own <database> <role> <variable with the password> <createdb or nocreatedb>
own() {
  ask --dbname postgres --set base="$1" --set role="$2" --file - <<SQL
\\getenv password $3
select format('create role %I', :'role') where not exists (select from pg_roles where rolname = :'role') \\gexec
alter role :"role" login nosuperuser $4 nocreaterole noreplication nobypassrls password :'password';
select format('create database %I encoding ''UTF8'' template template0', :'base')
  where not exists (select from pg_database where datname = :'base') \\gexec
alter database :"base" owner to :"role";
revoke all on database :"base" from public;
SQL
  ask --dbname "$1" --set role="$2" --file - <<'SQL'
select format('alter %s %s owner to %I', what, name, :'role')
from (
  select case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as what,
         oid::regclass::text as name, relowner as owner, relnamespace as schema, oid, 'pg_class'::regclass as catalog
  from pg_class where relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select 'routine', oid::regprocedure::text, proowner, pronamespace, oid, 'pg_proc'::regclass from pg_proc
  union all
  select 'type', oid::regtype::text, typowner, typnamespace, oid, 'pg_type'::regclass
  from pg_type where typrelid = 0 and typelem = 0
  union all
  select 'schema', nspname, nspowner, oid, oid, 'pg_namespace'::regclass from pg_namespace where nspname <> 'public'
) as object
join pg_namespace as place on place.oid = object.schema
where nspname !~ '^pg_' and nspname <> 'information_schema'
  and owner <> (select oid from pg_roles where rolname = :'role')
  -- Sequences follow their tables, and extensions keep what is theirs.
  and not exists (
    select from pg_depend
    where classid = catalog and objid = object.oid
      and (deptype = 'e' or (what = 'sequence' and deptype in ('a', 'i')) or (what = 'type' and deptype = 'i'))
  )
\gexec
SQL
}

# `agent-mailbox-admin verify` makes a database and drops it.
own agent_mailbox agent_mailbox MAILBOX_PASSWORD createdb
own temporal temporal TEMPORAL_PASSWORD nocreatedb
own temporal_visibility temporal TEMPORAL_PASSWORD nocreatedb
ask --dbname postgres --command 'alter role current_user password null'
