#!/bin/sh
# Installs what Weir needs and this machine lacks, and says what and why. Quick, quiet and without
# root when nothing is missing.
#
#   scripts/setup.sh           what `make demo` needs
#   scripts/setup.sh --system  the same without MySQL, which needs no root and takes longest
#   scripts/setup.sh --tests   also what `make test` needs: a browser for the report's tests, MariaDB's client and
#                              its plugin for encryption, nats-server for agents, pt-online-schema-change,
#                              drivers of applications in eight languages whose sessions are captured
#   scripts/setup.sh --bench   also what `make bench-*` needs: fio, sysbench, mysqlslap, mysqltuner, Go, xfsprogs
#   scripts/setup.sh --packages   also what `make packages` needs: rpm, mmdebstrap, umoci, cargo-cyclonedx
#   scripts/setup.sh --package-test   also what `make package-test` needs: lintian, rpmlint, rpm, mmdebstrap, umoci
#   scripts/setup.sh --deny    also what `make deny` needs: cargo-deny
#
# Packages come from the distribution (Debian, Ubuntu). Subcommands of cargo (cargo-nextest, cargo-cyclonedx,
# cargo-deny) are built from their registry once. Rust and Node.js are checked, not installed: how a toolchain is
# managed is its owner's choice.
set -eu

scripts=$(dirname "$(readlink -f "$0")")
root=$(dirname "$scripts")
# The oldest Node.js that the report's build tools support.
NODE_MINIMUM=20.19
# The runner of the tests.
NEXTEST_VERSION=0.9.151
# What lists the crates of a program in CycloneDX.
CYCLONEDX_VERSION=0.5.9
# What looks at the licences of crates.
DENY_VERSION=0.20.2

say() { printf '%s\n' "$*" >&2; }
die() {
    say "setup: $*"
    exit 1
}

main() {
    tests=no
    bench=no
    packages=no
    package_test=no
    deny=no
    mysql=yes
    case ${1:-} in
    '') ;;
    --system) mysql=no ;;
    --tests) tests=yes ;;
    --bench) bench=yes ;;
    --packages) packages=yes ;;
    --package-test) package_test=yes ;;
    --deny) deny=yes ;;
    *) die "unknown option: $1; use --system, --tests, --bench, --packages, --package-test, --deny or nothing" ;;
    esac

    check_toolchains
    missing=
    need fuse3 'mounts the emulated drives without root' fusermount3
    need mariadb-server-core 'MariaDB, one of the two servers to measure; starts no service' mariadbd
    need gcc 'compiles the bundled SQLite and LuaJIT' cc
    need make 'builds the bundled LuaJIT' make
    need libc6-dev 'links Rust programs' /usr/include/stdlib.h
    if [ "$tests" = yes ]; then
        need mariadb-client-core "MariaDB's own client, beside which option files are read" mariadb
        need python3-venv 'makes the environment of the drivers in Python' \
            "$(python3 -c 'import ensurepip; print(ensurepip.__file__)' 2>/dev/null || echo none)"
        need chromium "runs the report's tests in a browser" chromium chromium-browser google-chrome
        need php-cli 'runs sessions of mysqli and PDO, which are captured' php
        need php-mysql 'mysqli and PDO, drivers of PHP' /usr/lib/php/*/mysqli.so
        need libdbd-mysql-perl 'a driver of Perl' /usr/lib/*/perl5/*/DBD/mysql.pm
        need libdbd-mariadb-perl 'another driver of Perl' /usr/lib/*/perl5/*/DBD/MariaDB.pm
        need libmariadb-dev "builds sessions of MariaDB's client library" /usr/include/mariadb/mysql.h
    fi
    if [ "$bench" = yes ]; then
        need sysbench 'what the load engine is measured beside' sysbench
        need mariadb-client 'brings mysqlslap, which the load engine is measured beside' mariadb-slap
        need golang-go 'builds the clients in Go that the load engine is measured beside' go /usr/local/go/bin/go
        need mysqltuner 'is asked beside `weir advise`' mysqltuner
        need fio 'measures the emulated drives from outside' fio
        need xfsprogs 'makes a file system with reflinks to restore on' mkfs.xfs
    fi
    if [ "$packages$package_test" != nono ]; then
        mysql=no
        need rpm 'makes the .rpm, and looks into it' rpmbuild
        need binutils 'looks into the program' objdump
        need xz-utils 'compresses the .tar.xz' xz
        need mmdebstrap 'makes the system of the image, and one to install into' mmdebstrap
        need umoci 'makes and unpacks the image' umoci
    fi
    if [ "$package_test" = yes ]; then
        need lintian 'checks the .deb' lintian
        need rpmlint 'checks the .rpm' rpmlint
        need cpio 'unpacks the .rpm' cpio
        need debian-archive-keyring "verifies Debian's packages" /usr/share/keyrings/debian-archive-keyring.gpg
    fi
    install_missing
    if [ "$packages" = yes ]; then
        install_tool cargo-cyclonedx "$CYCLONEDX_VERSION" 'lists the crates in the program'
    fi
    if [ "$deny" = yes ]; then
        mysql=no
        install_tool cargo-deny "$DENY_VERSION" 'looks at the licences of crates'
    fi
    if [ "$tests" = yes ]; then
        install_tool cargo-nextest "$NEXTEST_VERSION" 'runs the tests with a limit of time each'
        fetch_key_management
        fetch_schema_change_tool
        fetch_drivers
        fetch_java_drivers
        build_sessions
        "$scripts/install-mysql.sh" --nats
    fi
    if [ "$mysql" = yes ]; then
        "$scripts/install-mysql.sh"
    fi
}

# need PACKAGE WHY PROGRAM...: notes PACKAGE as missing unless one of the programs is there.
need() {
    package=$1
    why=$2
    shift 2
    for program in "$@"; do
        if [ -e "$program" ] || PATH=$PATH:/usr/sbin:/usr/libexec command -v "$program" >/dev/null; then
            return 0
        fi
    done
    say "missing: $package ($why)"
    missing="$missing $package"
}

# install_tool CRATE VERSION WHY: a subcommand of cargo, from its registry.
install_tool() {
    command -v "$1" >/dev/null && return 0
    say "missing: $1 ($3); building it takes some minutes"
    cargo install --quiet --locked "$1@$2" || die "cargo could not install $1; look at its words above"
}

# MariaDB's plugin for encryption comes with the package that starts a service: only the plugin is taken out of it.
# Without it, tests of encrypted logs are left out.
fetch_key_management() {
    plugins=${XDG_DATA_HOME:-${HOME:?is not set}/.local/share}/weir/mariadb-plugins
    [ ! -e "$plugins/file_key_management.so" ] || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
    version=$(dpkg-query --show --showformat '${Version}' mariadb-server-core 2>/dev/null) || return 0
    work=$(mktemp -d)
    if (cd "$work" && apt-get -q download "mariadb-server=$version" && dpkg-deb --extract ./*.deb .) >/dev/null 2>&1; then
        mkdir -p "$plugins"
        cp "$work"/usr/lib/mysql/plugin/file_key_management.so "$plugins/" 2>/dev/null || true
    else
        say "left out: MariaDB's plugin file_key_management"
    fi
    rm -rf "$work"
}

# pt-online-schema-change is small, and its package wants a debugger: only the tool and its modules of Perl are taken
# (2 MB). Without it, tests of a user's own tool are left out.
fetch_schema_change_tool() {
    command -v pt-online-schema-change >/dev/null && return 0
    place=${XDG_DATA_HOME:-${HOME:?is not set}/.local/share}/weir/percona-toolkit
    [ ! -e "$place/pt-online-schema-change" ] || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
    work=$(mktemp -d)
    if (cd "$work" && apt-get -q download percona-toolkit libdbi-perl libdbd-mysql-perl &&
        for package in ./*.deb; do dpkg-deb --extract "$package" . || exit 1; done) >/dev/null 2>&1; then
        mkdir -p "$place/bin" "$place/perl5"
        cp "$work/usr/bin/pt-online-schema-change" "$place/bin/"
        cp -R "$work"/usr/lib/*/perl5/*/. "$place/perl5/"
        # shellcheck disable=SC2016 # "$@" is the script's own
        printf '#!/bin/sh\nexport PERL5LIB="%s"\nexec "%s" "$@"\n' "$place/perl5" "$place/bin/pt-online-schema-change" \
            >"$work/pt-online-schema-change"
        chmod +x "$work/pt-online-schema-change"
        if PERL5LIB="$place/perl5" perl -e 'use DBI; use DBD::mysql' &&
            "$work/pt-online-schema-change" --version >/dev/null 2>&1; then
            cp "$work/pt-online-schema-change" "$place/"
        else
            say "left out: pt-online-schema-change, which does not start"
            rm -rf "$place"
        fi
    else
        say "left out: pt-online-schema-change"
    fi
    rm -rf "$work"
}

# Drivers of applications, in a folder of their own. Without them, tests of captures of their sessions are left out.
DRIVERS='PyMySQL==1.1.1 mysql-connector-python==9.1.0'
NODE_DRIVERS='mysql2@3.11.5 mariadb@3.4.0'
fetch_drivers() {
    place=$root/target/drivers
    [ "$(cat "$place/versions" 2>/dev/null)" != "$DRIVERS $NODE_DRIVERS" ] || return 0
    say "missing: drivers in Python and Node.js, whose sessions are captured ($DRIVERS $NODE_DRIVERS)"
    rm -rf "$place"
    # shellcheck disable=SC2086 # a list of words
    if python3 -m venv "$place" >/dev/null 2>&1 &&
        "$place/bin/pip" install --quiet --disable-pip-version-check $DRIVERS >/dev/null 2>&1 &&
        npm install --silent --no-audit --no-fund --prefix "$place" $NODE_DRIVERS >/dev/null 2>&1; then
        printf '%s\n' "$DRIVERS $NODE_DRIVERS" >"$place/versions"
    else
        say "left out: drivers in Python and Node.js"
        rm -rf "$place"
    fi
}

# Drivers of Java, if this machine has a JDK and Maven. Without them, their tests are left out.
JAVA_DRIVERS='com.mysql:mysql-connector-j:9.1.0 org.mariadb.jdbc:mariadb-java-client:3.5.1'
fetch_java_drivers() {
    place=$root/target/drivers/java
    [ "$(cat "$place/versions" 2>/dev/null)" != "$JAVA_DRIVERS" ] || return 0
    rm -rf "$place"
    for driver in $JAVA_DRIVERS; do
        if ! { command -v javac && mvn -q dependency:copy "-Dartifact=$driver" "-DoutputDirectory=$place"; } >/dev/null 2>&1; then
            say "left out: drivers of Java ($JAVA_DRIVERS), which need javac and mvn"
            rm -rf "$place"
            return 0
        fi
    done
    printf '%s\n' "$JAVA_DRIVERS" >"$place/versions"
}

# Sessions of drivers of C and Go are programs. Without Go, those of its driver are left out.
build_sessions() {
    sources=$root/crates/weir-capture/tests/it/drivers
    place=$root/target/drivers
    mkdir -p "$place"
    # shellcheck disable=SC2046 # a list of words
    cc "$sources/libmariadb_sessions.c" -o "$place/libmariadb-sessions" $(mariadb_config --include --libs) ||
        say "left out: sessions of libmariadb"
    (cd "$sources/go" && PATH=$PATH:/usr/local/go/bin go build -o "$place/go-sessions" .) >/dev/null 2>&1 ||
        say "left out: sessions of go-sql-driver, which need Go 1.21"
}

install_missing() {
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null ||
        die "no apt-get (this script is for Debian and Ubuntu); install with your package manager:$missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "neither root nor sudo; as root, run: apt-get install$missing"
        as_root=sudo
    fi
    say "installing:$missing"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    export DEBIAN_FRONTEND=noninteractive
    # --no-remove: a MySQL of the machine's own must not make way for mariadb-server-core.
    # shellcheck disable=SC2086 # lists of words
    if ! { $as_root apt-get -q update && $as_root apt-get -q install -y --no-install-recommends --no-remove $missing; } >"$log" 2>&1; then
        die "apt-get could not install$missing: $(grep -m 1 '^E' "$log" || tail -n 1 "$log")"
    fi
}

check_toolchains() {
    rust_minimum=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
    check_version Rust "$rust_minimum" \
        "$(cargo --version 2>/dev/null | awk '{ print $2 }')" 'https://rustup.rs'
    check_version Node.js "$NODE_MINIMUM" \
        "$(node --version 2>/dev/null | tr -d v)" 'https://nodejs.org'
    command -v npm >/dev/null || die "npm is missing (it builds the report's page); install it beside Node.js"
}

# check_version NAME MINIMUM FOUND WHERE
check_version() {
    [ -n "$3" ] || die "$1 is missing; install version $2 or later from $4"
    oldest=$(printf '%s\n%s\n' "$2" "$3" | sort -V | head -n 1)
    [ "$oldest" = "$2" ] || die "$1 $3 is too old; install version $2 or later from $4"
}

main "$@"
