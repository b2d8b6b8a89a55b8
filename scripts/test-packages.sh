#!/bin/sh
# Tests what `make packages` made: checksums, the .deb in a small Debian (install, run, manual page, completion, purge),
# lintian, the .rpm, the .tar.xz and the image. Needs root: it changes into the systems that it makes. `make
# package-test` installs the tools first.
set -eu

scripts=$(dirname "$(readlink -f "$0")")
root=$(dirname "$scripts")
out=$root/target/packages
# The oldest Debian that the packages support.
SUITE=bookworm

say() { printf '%s\n' "$*" >&2; }
die() {
    say "test-packages: $*"
    exit 1
}

# expect WHAT WORDS TEXT: the text has the words.
expect() {
    case $3 in
    *"$2"*) say "ok: $1" ;;
    *) die "$1: \"$2\" is not in: $3" ;;
    esac
}

main() {
    [ "$(id -u)" -eq 0 ] || die 'not root (the tests change into other systems); run: sudo make package-test'
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT

    (cd "$out" && sha256sum --quiet -c SHA256SUMS) || die "a file in $out is not the one that was made; run make packages"
    say 'ok: checksums'
    test_deb "$out/weir_${version}_$(dpkg --print-architecture).deb" \
        "$out/weir-sysbench_${version}_$(dpkg --print-architecture).deb" \
        "$out/weir-flashback_${version}_$(dpkg --print-architecture).deb"
    test_rpm
    test_tar
    test_image
    test_sbom weir
    test_sbom weir-flashback
    say 'packages: all tests passed'
}

# inside FOLDER COMMAND...: runs it with FOLDER as the root, and /proc and /dev as here; both are gone afterwards.
inside() {
    folder=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands them
    HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount --fork sh -eu -c '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" "$@"' "$folder" "$@"
}

# test_deb WEIR SYSBENCH FLASHBACK
test_deb() {
    system=$work/system
    mmdebstrap --quiet --variant=minbase --include=fuse3,man-db,bash-completion "$SUITE" "$system" >&2
    files "$system" >"$work/before"
    cp "$1" "$2" "$3" "$system/root"
    test_flashback "$3"
    inside "$system" dpkg -i "/root/$(basename "$1")" >&2

    expect 'the .deb runs' "weir $version" "$(inside "$system" weir --version)"
    expect 'doctor' 'cores' "$(inside "$system" weir doctor 2>&1 || true)"
    expect 'drives' 'intel-p4610' "$(inside "$system" weir drive list)"
    expect 'a packaged study is read' 'space: about' "$(inside "$system" weir plan /usr/share/weir/studies/first-look.toml 2>&1 || true)"
    expect 'manual page' 'weir-run(1)' "$(inside "$system" man weir)"
    expect 'manual page of a command' 'SYNOPSIS' "$(inside "$system" man weir-run)"
    # shellcheck disable=SC2016 # the inner shell expands them
    expect 'completion' 'plan' "$(inside "$system" bash -c '. /usr/share/bash-completion/bash_completion
        _completion_loader weir || true
        COMP_WORDS=(weir pl) COMP_CWORD=1 COMP_LINE="weir pl" COMP_POINT=7
        "$(complete -p weir | sed "s/.*-F \([^ ]*\).*/\1/")" weir pl weir
        echo "${COMPREPLY[@]}"')"
    inside "$system" dpkg -i "/root/$(basename "$2")" >&2
    expect 'the name sysbench' 'sysbench' "$(inside "$system" sysbench --version)"

    inside "$system" dpkg --purge weir-sysbench weir >&2
    files "$system" >"$work/after"
    diff "$work/before" "$work/after" >&2 || die 'files are left after the purge (above)'
    say 'ok: purge leaves nothing'
    rm -rf "$system"
    lintian --allow-root --fail-on error "$1" "$2" "$3" >&2 || die 'lintian found errors (above)'
    say 'ok: lintian has no errors'
}

# test_flashback PACKAGE: it is installed, runs without the package weir, and leaves nothing.
test_flashback() {
    inside "$system" dpkg -i "/root/$(basename "$1")" >&2
    expect 'flashback alone runs' "weir-flashback $version" "$(inside "$system" weir-flashback --version)"
    expect 'flashback alone logs in' 'cannot log in' "$(inside "$system" weir-flashback \
        'mysql://nobody@127.0.0.1:1/shop' --tables orders --as-of binlog.000001:4 --diff 2>&1 || true)"
    expect 'manual page of flashback alone' 'weir-flashback-log(1)' "$(inside "$system" man weir-flashback)"
    inside "$system" dpkg --purge weir-flashback >&2
    files "$system" >"$work/after"
    diff "$work/before" "$work/after" >&2 || die 'files of flashback are left after the purge (above)'
}

# files FOLDER: all files but root's own, and what dpkg and man write down.
files() {
    (cd "$1" && find . -xdev \( -path ./root -o -path ./proc -o -path ./dev -o -path ./var/lib/dpkg -o -path ./var/log \
        -o -path ./var/cache/man \) -prune -o -print | sort)
}

test_rpm() {
    package=$(find "$out" -name "weir-$version-*.rpm")
    expect 'the .rpm of flashback' '/usr/bin/weir-flashback' "$(rpm -qpl "$(find "$out" -name 'weir-flashback-*.rpm')")"
    listed=$(rpm -qpl "$package")
    for file in /usr/bin/weir /usr/share/man/man1/weir.1.gz /usr/share/weir/drives/intel-p4610.toml \
        /usr/share/bash-completion/completions/weir /usr/share/licenses/weir/LICENSE; do
        expect "the .rpm has $file" "$file" "$listed"
    done
    expect 'the .rpm needs fuse3' 'fuse3' "$(rpm -qp --requires "$package")"
    expect 'the .rpm of sysbench' '/usr/bin/sysbench' "$(rpm -qpl "$(find "$out" -name 'weir-sysbench-*.rpm')")"
    mkdir "$work/rpm"
    (cd "$work/rpm" && rpm2cpio "$package" | cpio --quiet -id)
    expect "the .rpm's program runs" "weir $version" "$("$work/rpm/usr/bin/weir" --version)"
    rpmlint --config "$scripts/rpmlint.toml" "$out"/*.rpm >&2 || die 'rpmlint found errors (above)'
    say 'ok: rpmlint has no errors'
}

test_tar() {
    tar -C "$work" -xJf "$(find "$out" -name "weir-$version-linux-*.tar.xz")"
    program=$(find "$work" -path "*/weir-$version-linux-*/bin/weir")
    expect "the .tar.xz's program runs" "weir $version" "$("$program" --version)"
    ! objdump -h "$program" | grep -q '\.debug_info' || die "$program is not stripped"
    newest=$(objdump -T "$program" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
    [ "$(printf '%s\n2.36\n' "$newest" | sort -V | tail -n 1)" = 2.36 ] || die "$program needs glibc $newest"
    say "ok: stripped, and glibc $newest suffices"
}

test_image() {
    mkdir "$work/image"
    tar -C "$work/image" -xf "$(find "$out" -name "weir-$version-oci-*.tar")"
    umoci unpack --image "$work/image:$version" "$work/bundle" >&2
    expect 'the image runs weir' '"/usr/bin/weir"' "$(cat "$work/bundle/config.json")"
    expect "the image's program runs" "weir $version" "$(inside "$work/bundle/rootfs" /usr/bin/weir --version)"
    [ -e "$work/bundle/rootfs/usr/bin/fusermount3" ] || die 'the image has no fusermount3'
    say 'ok: the image has fusermount3'
}

# test_sbom PACKAGE
test_sbom() {
    list=$out/$1-$version.cdx.json
    node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' "$list" || die "$list is no JSON"
    expect 'the list of crates' '"CycloneDX"' "$(cat "$list")"
    expect 'the list of crates has rustls' '"rustls"' "$(cat "$list")"
}

main "$@"
