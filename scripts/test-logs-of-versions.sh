#!/bin/sh
# Logs of each server below FOLDER beside what was sent to it: random sessions, half a minute for each server.
#
#   scripts/test-logs-of-versions.sh FOLDER
#
# WEIR_LOGS_SECONDS says how long. The exit status is 1 if a log of one of them is read as something else.
set -eu

[ $# -eq 1 ] || {
    echo "usage: scripts/test-logs-of-versions.sh FOLDER" >&2
    exit 2
}
failed=0
for server in "$1"/*/bin/mysqld "$1"/*/bin/mariadbd; do
    [ -x "$server" ] || continue
    case $(basename "$(dirname "$(dirname "$server")")") in
    mysql-*) flavor=mysql_server ;;
    mariadb-*) flavor=mariadb_server ;;
    *) continue ;;
    esac
    # A MariaDB with both names is one server.
    [ "$flavor/$(basename "$server")" != mariadb_server/mysqld ] || [ ! -x "$(dirname "$server")/mariadbd" ] || continue
    echo "logs of $server"
    WEIR_TEST_SERVER=$(readlink -f "$server") WEIR_LOGS_SECONDS=${WEIR_LOGS_SECONDS:-30} WEIR_LOGS_SEED=${WEIR_LOGS_SEED:-1} \
        cargo nextest run --package weir-capture --test oracle --profile gate --ignore-default-filter \
        "$flavor::" || failed=1
done
exit $failed
