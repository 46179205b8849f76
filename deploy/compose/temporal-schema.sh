#!/bin/sh
# Schema of Temporal's two databases, for the version of this image. It runs before each start of the server, and changes
# nothing where the schema is current.
set -eu
schema=/etc/temporal/schema/postgresql/v12

# prepare <database> <folder of its schema>
prepare() {
  # SQL_PASSWORD has the password.
  set -- "$2" --plugin postgres12 --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" --db "$1"
  folder=$schema/$1/versioned
  shift
  temporal-sql-tool "$@" setup-schema -v 0.0
  temporal-sql-tool "$@" update-schema -d "$folder"
}

prepare temporal temporal
prepare temporal_visibility visibility
