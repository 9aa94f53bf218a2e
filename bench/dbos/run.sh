#!/bin/sh
# bench/dbos/run.sh: the rows dbos/1 and dbos/100 of //bench:durable beside DBOS Transact, on
# PostgreSQL in a folder of its own.  Needs the network for npm, and on Debian 12 the packages
# postgresql, nodejs and npm.
#
# PostgreSQL does not run as root: then it runs as the user postgres.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
as_user() { if [ "$(id -u)" = 0 ]; then su postgres -c "$*"; else sh -c "$*"; fi; }
finish() {
  as_user "$bin/pg_ctl -D $folder/data -m immediate stop" > /dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"
mkdir "$folder/data"
[ "$(id -u)" != 0 ] || chown postgres "$folder/data"
as_user "$bin/initdb -D $folder/data -A trust -U postgres" > "$folder/log"
as_user "$bin/pg_ctl -w -D $folder/data -o '-p 54329 -c listen_addresses=127.0.0.1 -k $folder/data' start" \
  > "$folder/log"
cp "$here/workflows.mjs" "$folder"
(cd "$folder" && npm install --silent --no-audit --no-fund @dbos-inc/dbos-sdk@5.3 > "$folder/log")
figures=$(cd "$folder" && DATABASE=postgresql://postgres@127.0.0.1:54329/bench node workflows.mjs)
echo "$figures"
WEFT_DBOS_1=$(echo "$figures" | sed -n 's/^1 //p')
WEFT_DBOS_100=$(echo "$figures" | sed -n 's/^100 //p')
export WEFT_DBOS_1 WEFT_DBOS_100
cd "$here/../.."
./bazelw run --config=bench //bench:durable -- --benchmark_filter=step/1 "$@"
