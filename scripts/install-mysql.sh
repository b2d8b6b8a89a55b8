#!/bin/sh
# Puts Oracle MySQL beside the system, not into it: downloads the distribution's own
# mysql-server-core and every library that it needs, unpacks them into one folder, and writes a
# launcher, FOLDER/bin/mysqld, that is used like any mysqld. Needs no root and starts no service.
#
#   scripts/install-mysql.sh             install if missing (quick and quiet when it is there)
#   scripts/install-mysql.sh --upgrade   replace what is there with the archive's newest version
#   scripts/install-mysql.sh --mariadb   the same with MariaDB, for scripts/test-versions.sh: in the usual folder it
#                                        would be measured in place of the system's
#   scripts/install-mysql.sh --nats      nats-server, the bus of agents (docs/agents.md), in the same way: Debian 12 has
#                                        2.9, and the package would start a service
#
# Why not `apt-get install`: Debian has MySQL only in its unstable suite, whose C library must not
# replace the machine's; Ubuntu's mysql-server-core conflicts with mariadb-server-core, and Weir
# measures both. The packages come from the archive that this machine's apt already uses, verified
# with the distribution's keyring; apt keeps its own state untouched (all its folders are private
# here) and resolves the whole set as if on an empty machine, so that nothing of the machine's is
# mixed in. At run time the folder's own dynamic linker loads the folder's own libraries.
#
# The target is ${WEIR_SERVERS:-${XDG_DATA_HOME:-$HOME/.local/share}/weir/servers}/mysql-MAJOR.
set -eu

# Raise when the layout or the launcher changes: an older installation is then replaced.
RECIPE=1
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
SERVERS=${WEIR_SERVERS:-${XDG_DATA_HOME:-${HOME:?is not set}/.local/share}/weir/servers}

say() { printf '%s\n' "$*" >&2; }
die() {
    say "install-mysql: $*"
    exit 1
}

main() {
    upgrade=no
    family=mysql
    program=mysqld
    case ${1:-} in
    '') ;;
    --upgrade) upgrade=yes ;;
    --mariadb)
        family=mariadb
        program=mariadbd
        ;;
    --nats)
        family=nats
        program=nats-server
        ;;
    *) die "unknown option: $1; use --upgrade, --mariadb, --nats or nothing" ;;
    esac
    if [ "$upgrade" = no ] && installed; then
        exit 0
    fi
    for tool in apt-get dpkg-deb flock; do
        command -v "$tool" >/dev/null ||
            die "$tool is missing (this script is for Debian and Ubuntu); install MySQL 8.4 or later yourself and put its mysqld into PATH"
    done

    mkdir -p "$SERVERS"
    exec 9>"$SERVERS/.lock"
    flock 9
    # Another process may have installed it while this one waited for the lock.
    if [ "$upgrade" = no ] && installed; then
        exit 0
    fi
    # What an interrupted run left; the lock is ours, so nobody is using it.
    clear_work
    work=$(mktemp -d "$SERVERS/.download.XXXXXX")
    trap clear_work EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    prepare_apt
    # Sets $package, $version: from the machine's archive.
    find_package || die "the package archive has no $family server for $(dpkg --print-architecture); install one yourself (MySQL 8.4, MariaDB 10.11, nats-server 2.10 or later) and put its $program into PATH"
    target=$SERVERS/$family-${version%%.*}
    say "installing $family $version into $target (beside the system's programs; the system is not changed)"
    download
    unpack
    publish
    say "installed $("$target/bin/$program" --version | sed "s/^.*[[:space:]]Ver /$family /")"
}

# Removes everything unfinished.
clear_work() {
    rm -rf "$SERVERS"/.download.* "$SERVERS"/.unpack.* "$SERVERS"/.old.*
}

# Whether a complete installation by this recipe is there.
installed() {
    for stamp in "$SERVERS/$family"-*/weir-packages; do
        if [ -r "$stamp" ] && [ -x "${stamp%/*}/bin/$program" ] &&
            [ "$(head -n 1 "$stamp")" = "recipe $RECIPE" ]; then
            return 0
        fi
    done
    return 1
}

# An apt of our own: empty status, private lists and cache, no pins. The machine's proxies and
# certificates still apply, because its apt.conf is still read.
prepare_apt() {
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
    : >"$work/state/status"
    sources=$work/sources.list
    : >"$sources"
}

apt_get() {
    tool=apt-get
    run_apt "$@"
}

apt_cache() {
    tool=apt-cache
    run_apt "$@"
}

run_apt() {
    # The sandbox user cannot enter a private folder; root (if it is root) downloads instead.
    "$tool" -q \
        -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" \
        -o Dir::Cache="$work/cache" \
        -o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts="$parts" \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" \
        "$@"
}

find_package() {
    # shellcheck source=/dev/null
    distribution=$(. /etc/os-release && echo "$ID ${ID_LIKE:-}")
    case " $distribution " in
    *' ubuntu '*) find_in_own_archive ;;
    *' debian '*) find_in_unstable ;;
    *) die "this distribution is neither Debian nor Ubuntu; install MySQL 8.4 or later yourself and put its mysqld into PATH" ;;
    esac
}

# Ubuntu: the machine's own sources as they are.
find_in_own_archive() {
    sources=/etc/apt/sources.list
    parts=/etc/apt/sources.list.d
    apt_get update >"$work/log" 2>&1 || explain
    newest_package
}

# Debian: the suite `unstable` at the address that serves this machine's own release. Third-party
# archives may use the same release names; they fail the keyring, and the next address is tried.
find_in_unstable() {
    parts=/dev/null
    [ -r "$KEYRING" ] || die "$KEYRING is missing (it proves that packages are Debian's); apt-get install debian-archive-keyring"
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-unstable}")
    addresses=$(apt-get indextargets --no-release-info --format "\$(RELEASE) \$(COMPONENT) \$(SITE)" \
        'Identifier: Packages' |
        awk -v codename="$codename" '
            $2 == "main" && ($1 == codename || $1 ~ /^(stable|testing|unstable|sid)$/) && !seen[$3]++ {
                print $3
            }')
    [ -n "$addresses" ] || die "apt has no source for Debian $codename main; add one to /etc/apt/sources.list.d"
    for address in $addresses; do
        printf 'deb [target=Packages signed-by=%s] %s unstable main\n' "$KEYRING" "$address" >"$sources"
        if apt_get update -o APT::Update::Error-Mode=any >"$work/log" 2>&1 && newest_package; then
            return 0
        fi
    done
    explain
}

# Why `apt-get update` failed, in one line, from what it printed.
explain() {
    if grep -q NO_PUBKEY "$work/log"; then
        die "the archive's signing key is newer than $KEYRING; apt-get install --only-upgrade debian-archive-keyring, then try again"
    fi
    die "apt-get update failed: $(grep -m 1 -E '^(E|W|Err)' "$work/log" || tail -n 1 "$work/log")"
}

# Sets $package and $version to the newest server of the family that the archive has.
newest_package() {
    best=
    wanted=$family-server-core
    [ "$family" != nats ] || wanted=nats-server
    for name in $(apt_cache pkgnames "$wanted"); do
        candidate=$(apt_cache policy "$name" | awk '$1 == "Candidate:" { print $2 }')
        case $candidate in
        '' | '(none)') continue ;;
        esac
        if [ -z "$best" ] || dpkg --compare-versions "$candidate" gt "$best"; then
            best=$candidate
            package=$name
        fi
    done
    [ -n "$best" ] || return 1
    version=${best#*:}
}

download() {
    apt_get install -y --no-install-recommends --download-only "$package" >"$work/log" 2>&1 ||
        die "download failed: $(grep -m 1 '^E' "$work/log" || tail -n 1 "$work/log")"
}

unpack() {
    prefix=$(mktemp -d "$SERVERS/.unpack.XXXXXX")
    chmod 755 "$prefix"
    echo "recipe $RECIPE" >"$prefix/weir-packages"
    for deb in "$work"/cache/archives/*.deb; do
        name=$(dpkg-deb --field "$deb" Package)
        case $name in
        # Only for the package's helper scripts, which Weir doesn't run.
        perl* | libperl*) continue ;;
        esac
        dpkg-deb -x "$deb" "$prefix" || die "unpacking failed: ${deb##*/} (disk full?); see df $SERVERS"
        # shellcheck disable=SC2016 # dpkg-deb expands these
        dpkg-deb --showformat='${Package} ${Version} ${Architecture}\n' --show "$deb" >>"$prefix/weir-packages"
    done
    # Manuals, translations and character-set converters of the C library: 100 MB that no server reads.
    rm -rf "$prefix"/usr/share/doc "$prefix"/usr/share/man "$prefix"/usr/share/locale \
        "$prefix"/usr/share/lintian "$prefix"/usr/lib/*/gconv "$prefix"/usr/share/gcc \
        "$prefix"/usr/share/gdb
    write_launcher
    "$prefix/bin/$program" --version >/dev/null || die "the unpacked server does not start; please report this with the lines above"
}

# The launcher finds everything from its own place, so that the folder can be moved. Its options
# come last: --defaults-file and --no-defaults must stay first.
write_launcher() {
    mkdir -p "$prefix/bin"
    if [ "$family" = nats ]; then
        write_nats_launcher
        return
    fi
    cat >"$prefix/bin/$program" <<'LAUNCHER'
#!/bin/sh
# Runs this folder's server with this folder's own libraries. Written by install-mysql.sh.
here=$(dirname "$(readlink -f "$0")")
prefix=${here%/bin}
for linker in "$prefix"/usr/lib/*/ld-linux*.so.* "$prefix"/lib/*/ld-linux*.so.*; do
    [ -x "$linker" ] && break
done
libraries=${linker%/*}
name=${0##*/}
share=$prefix/usr/share/mysql
[ -d "$share" ] || share=$prefix/usr/share/mariadb
# The secure-file-priv folder that the package names exists only on systems that installed it.
exec "$linker" --argv0 "$here/$name" \
    --library-path "$libraries:$prefix/usr/lib/mysql/private:$prefix/lib/${libraries##*/}" \
    "$prefix/usr/sbin/$name" "$@" \
    --basedir="$prefix/usr" --lc-messages-dir="$share" --character-sets-dir="$share/charsets" \
    --plugin-dir="$prefix/usr/lib/mysql/plugin" --secure-file-priv=
LAUNCHER
    chmod 755 "$prefix/bin/$program"
}

# nats-server gets its own options only.
write_nats_launcher() {
    cat >"$prefix/bin/$program" <<'LAUNCHER'
#!/bin/sh
# Runs this folder's nats-server with this folder's own libraries. Written by install-mysql.sh.
here=$(dirname "$(readlink -f "$0")")
prefix=${here%/bin}
for linker in "$prefix"/usr/lib/*/ld-linux*.so.* "$prefix"/lib/*/ld-linux*.so.*; do
    [ -x "$linker" ] && break
done
libraries=${linker%/*}
exec "$linker" --library-path "$libraries:$prefix/lib/${libraries##*/}" "$prefix/usr/sbin/nats-server" "$@"
LAUNCHER
    chmod 755 "$prefix/bin/$program"
}

# Swaps the new folder in. A server that runs from the old one keeps its open files.
publish() {
    if [ -e "$target" ]; then
        mv "$target" "$SERVERS/.old.$$"
    fi
    mv "$prefix" "$target"
    rm -rf "$SERVERS"/.old.*
}

main "$@"
