#!/bin/sh
# Creates the roles and the database; Postgres runs it when it creates its data.
set -eu
for context in catalog orders wallet identity; do
    password=$(printenv "$(echo "$context" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD")
    psql -v database=guerdon -v contexts="$context" -v owner_password="$password" -v app_password="$password" \
        --username postgres --dbname postgres -f /guerdon/roles.sql
done
