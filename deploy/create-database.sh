#!/bin/sh
# Creates the owner of the database and the database, at the first start of a PostgreSQL container. The
# owner is no superuser, because row-level security does not apply to superusers.
set -eu
psql --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
  --set=password="$OWNER_PASSWORD" <<'SQL'
CREATE ROLE nimbill LOGIN PASSWORD :'password' CREATEROLE;
CREATE DATABASE nimbill OWNER nimbill ENCODING 'UTF8' TEMPLATE template0;
SQL
