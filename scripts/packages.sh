#!/bin/sh
# Makes the packages of Weir in target/packages: .deb, .rpm, .tar.xz, an OCI image, lists of what is inside (SBOM), and
# checksums; of weir-flashback, which is flashback alone, .deb, .rpm and .tar.xz. `make packages` installs the tools first, `make package-test` tests what this makes. Some minutes, most of
# them for the build of the program.
set -eu

scripts=$(dirname "$(readlink -f "$0")")
root=$(dirname "$scripts")
out=$root/target/packages
# The oldest glibc that the packages support: Debian 12's.
GLIBC_MAXIMUM=2.36
# Written into the packages; a publisher names itself here.
MAINTAINER=${WEIR_MAINTAINER:-Weir maintainers <weir@example.org>}
FLASHBACK_SUMMARY='shows MySQL and MariaDB tables as they were, and undoes changes'
SUMMARY='measures which storage, memory and InnoDB settings make MySQL faster'

say() { printf '%s\n' "$*" >&2; }
die() {
    say "packages: $*"
    exit 1
}

main() {
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
    architecture=$(uname -m)
    # Files have the commit's time, not the build's.
    SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
    export SOURCE_DATE_EPOCH

    crates=${CARGO_HOME:-$HOME/.cargo}
    build
    for built in "$program" "$flashback"; do
        check_paths "$built"
        check_program "$built"
    done
    rm -rf "$out"
    mkdir -p "$out"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    stage "$work/weir"
    stage_flashback "$work/weir-flashback"
    make_tar weir
    make_tar weir-flashback
    make_deb
    make_rpm
    make_image
    make_sbom weir
    make_sbom weir-flashback
    (cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
    say "packages: $out"
}

# Builds the program apart from other builds, without paths of this machine: its own and those of the crates, whose
# folder is named after their registry.
build() {
    (cd "$root" && cargo fetch --locked)
    RUSTFLAGS="--remap-path-prefix=$crates=/usr/src/cargo --remap-path-prefix=$root=/usr/src/weir"
    CFLAGS="-ffile-prefix-map=$crates=/usr/src/cargo -ffile-prefix-map=$root=/usr/src/weir"
    for registry in "$crates"/registry/src/*/; do
        registry=${registry%/}
        RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$registry=/usr/src/crates"
        CFLAGS="$CFLAGS -ffile-prefix-map=$registry=/usr/src/crates"
    done
    export RUSTFLAGS CFLAGS
    (cd "$root" && cargo build --locked --profile packages --target-dir target/package \
        --bin weir --bin weir-flashback --package weir --package weir-flashback)
    unset RUSTFLAGS CFLAGS
    program=$root/target/package/packages/weir
    flashback=$root/target/package/packages/weir-flashback
    # The profile's strip leaves the symbols of a program that exports some to Lua.
    strip "$program" "$flashback"
}

# check_paths FILE_OR_FOLDER: nothing in it names a folder of this machine.
check_paths() {
    for path in "$root" "$crates" "$HOME/.cargo" "$HOME/.rustup"; do
        ! grep -rq --binary-files=text -F "$path/" "$1" || die "$1 contains the path $path of this machine"
    done
}

# check_program PROGRAM: it is stripped, and runs where glibc is old.
check_program() {
    ! readelf -SW "$1" | grep -q '\.symtab' || die "$1 is not stripped"
    newest=$(objdump -T "$1" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
    [ "$(printf '%s\n%s\n' "$newest" "$GLIBC_MAXIMUM" | sort -V | tail -n 1)" = "$GLIBC_MAXIMUM" ] ||
        die "$1 needs glibc $newest, newer than $GLIBC_MAXIMUM; build it on an older system"
}

# stage FOLDER: all files of the package as they are installed.
stage() {
    folder=$1
    share=$folder/usr/share
    install -D -m 755 "$program" "$folder/usr/bin/weir"
    for data in drives studies workloads; do
        install -d "$share/weir/$data"
        install -m 644 "$root/$data"/*.toml "$share/weir/$data"
    done
    # What jobs of CI call (docs/ci.md).
    install -m 755 "$root/scripts/gate-action.sh" "$share/weir/gate-action.sh"
    install -d "$share/man/man1" "$share/doc/weir"
    "$program" manual "$share/man/man1"
    gzip -9 -n "$share/man/man1"/*.1
    completion bash "$share/bash-completion/completions/weir"
    completion zsh "$share/zsh/vendor-completions/_weir"
    completion fish "$share/fish/vendor_completions.d/weir.fish"
    install -m 644 "$root/README.md" "$root/CHANGELOG.md" "$share/doc/weir"
    # With the folders below, so that the pages' links lead somewhere.
    cp -R "$root/docs" "$share/doc/weir/docs"
    legal weir
    finish
}

# stage_flashback FOLDER: the same for flashback alone.
stage_flashback() {
    folder=$1
    share=$folder/usr/share
    install -D -m 755 "$flashback" "$folder/usr/bin/weir-flashback"
    install -d "$share/man/man1" "$share/doc/weir-flashback"
    cp "$work/weir/usr/share/man/man1"/weir-flashback*.1.gz "$share/man/man1"
    install -m 644 "$root/docs/flashback.md" "$root/CHANGELOG.md" "$share/doc/weir-flashback"
    legal weir-flashback
    finish
}

# legal PACKAGE: the licences of the program, and of what it contains.
legal() {
    copyright >"$share/doc/$1/copyright"
    notices "$1" | gzip -9 -n >"$share/doc/$1/third-party.gz"
}

# The rights and times of all files, and a check of their text.
finish() {
    chmod -R u=rwX,go=rX "$folder"
    check_paths "$folder"
    find "$folder" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# completion SHELL FILE
completion() {
    install -d "$(dirname "$2")"
    "$program" completions "$1" >"$2"
}

# notices PACKAGE: the licences of what its program contains, as they ask for: a list, then each text once.
notices() {
    parts=$work/parts
    (cd "$root" && cargo tree --locked --package "$1" --edges normal,build --prefix none --format '{p} {l}') |
        grep -v '^weir' | sed 's/ (\*)$//; s/ (proc-macro)//' | sort -u >"$parts"
    printf '%s\n\n' 'Weir contains or was built with:'
    cat "$parts"
    [ "$1" != weir ] || printf '%s\n' 'd3, internmap, uPlot (in the pages of reports; ISC, MIT)'
    (
        while read -r name crate_version _; do
            find "$crates"/registry/src/*/"$name-${crate_version#v}" -maxdepth 2 -type f \
                \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'copyright*' -o -iname 'notice*' \)
        done <"$parts"
        [ "$1" != weir ] || (cd "$root/web" && npm ls --omit=dev --all --parseable) | sed 1d | while read -r folder; do
            find "$folder" -maxdepth 1 -iname 'licen[cs]e*'
        done
    ) | xargs sha256sum | sort -k 2 | awk '!seen[$1]++ { sub(/^[^ ]+ +/, ""); print }' | while read -r text; do
        printf '\n----- %s\n\n' "$(basename "$(dirname "$text")")/$(basename "$text")"
        cat "$text"
    done
}

copyright() {
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' \
        'Upstream-Name: weir' \
        'Comment: The licences of the libraries in the program are in third-party.gz.' '' 'Files: *' 'Copyright: 2026 the authors of Weir' 'License: Apache-2.0' '' \
        'License: Apache-2.0' \
        ' On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.'
}

# make_tar PACKAGE
make_tar() {
    name=$1-$version-linux-$architecture
    mkdir "$work/$name"
    cp -a "$work/$1/usr/bin" "$work/$1/usr/share" "$work/$name"
    cp "$root/LICENSE" "$work/$name"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cJf "$out/$name.tar.xz" "$name"
}

# deb_folder PACKAGE: its files, with the changelog in the form of Debian's.
deb_folder() {
    cp -a "$work/$1" "$own"
    changelog "$1" | gzip -9 -n >"$own/usr/share/doc/$1/changelog.gz"
    rm "$own/usr/share/doc/$1/CHANGELOG.md"
}

make_deb() {
    architecture_deb=$(dpkg --print-architecture)
    own=$work/deb-flashback
    deb_folder weir-flashback
    control weir-flashback "libc6 (>= $GLIBC_MAXIMUM), libgcc-s1" 'Recommends: mariadb-server-core | default-mysql-server-core
Conflicts: weir' "$own"
    build_deb weir-flashback "$own"

    own=$work/deb
    deb_folder weir
    control weir "libc6 (>= $GLIBC_MAXIMUM), libgcc-s1, fuse3" 'Recommends: mariadb-server-core | default-mysql-server-core
Suggests: nats-server' "$own"
    build_deb weir "$own"

    # Under the name of sysbench: a package of its own, so that Debian's sysbench stays where it is wanted.
    link=$work/weir-sysbench
    install -d "$link/usr/bin" "$link/usr/share/doc/weir-sysbench" "$link/usr/share/man/man1"
    ln -s weir "$link/usr/bin/sysbench"
    ln -s weir-load.1.gz "$link/usr/share/man/man1/sysbench.1.gz"
    cp "$own/usr/share/doc/weir/copyright" "$own/usr/share/doc/weir/changelog.gz" \
        "$link/usr/share/doc/weir-sysbench"
    control weir-sysbench "weir (= $version)" 'Conflicts: sysbench
Provides: sysbench' "$link"
    build_deb weir-sysbench "$link"
}

# control PACKAGE DEPENDS MORE FOLDER
control() {
    install -d "$4/DEBIAN"
    size_kib=$(du -sk --exclude=DEBIAN "$4" | cut -f1)
    {
        printf '%s\n' "Package: $1" "Version: $version" "Architecture: $architecture_deb" \
            "Maintainer: $MAINTAINER" "Installed-Size: $size_kib" "Depends: $2" 'Section: database' \
            'Priority: optional'
        [ -z "$3" ] || printf '%s\n' "$3"
        case $1 in
        weir)
            printf '%s\n' "Description: $SUMMARY" \
                ' A study is a text file with a question. Weir runs real servers on emulated' \
                ' or real drives, repeats the runs, prints ratios with intervals, and refuses' \
                ' unfair comparisons.'
            ;;
        weir-flashback)
            printf '%s\n' "Description: $FLASHBACK_SUMMARY" \
                ' It reads the binary log of a stock server, without locks and without a backup.' \
                ' The package weir has the same as its command flashback.'
            ;;
        *)
            printf '%s\n' 'Description: weir under the name of sysbench' \
                ' Scripts that call sysbench load servers with Weir: the same options and report.'
            ;;
        esac
    } >"$4/DEBIAN/control"
    (cd "$4" && find usr -type f -exec md5sum {} + | sort -k 2) >"$4/DEBIAN/md5sums"
}

# changelog PACKAGE
changelog() {
    printf '%s\n\n' "$1 ($version) unstable; urgency=medium"
    printf '%s\n\n' '  * See /usr/share/doc/weir/README.md for what this release does.'
    printf ' -- %s  %s\n' "$MAINTAINER" "$(date -R -u --date="@$SOURCE_DATE_EPOCH")"
}

# build_deb PACKAGE FOLDER
build_deb() {
    dpkg-deb --root-owner-group -Zxz --build "$2" "$out/$1_${version}_$architecture_deb.deb" >&2
}

# The same files with rpmbuild; where zsh looks for completions differs.
make_rpm() {
    share=$work/weir/usr/share
    install -d "$share/zsh/site-functions"
    mv "$share/zsh/vendor-completions/_weir" "$share/zsh/site-functions"
    rmdir "$share/zsh/vendor-completions"
    install -D -m 644 "$root/LICENSE" "$work/weir/usr/share/licenses/weir/LICENSE"
    # The name of this machine is not part of a package.
    spec >"$work/weir.spec"
    rpmbuild --quiet -bb --define "_dbpath $work/rpm/db" --define "_topdir $work/rpm" --define "_rpmdir $out" \
        --define '_buildhost localhost' --define '_binary_payload w6.xzdio' --define '_build_id_links none' \
        --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
        --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' "$work/weir.spec" >&2
}

spec() {
    cat <<SPEC
%global __os_install_post %{nil}
%global debug_package %{nil}
%global source_date_epoch_from_changelog 0
Name: weir
Version: $version
Release: 1
Summary: Measures which storage, memory and InnoDB settings make MySQL faster
License: Apache-2.0
Group: Applications/Databases
Packager: $MAINTAINER
Requires: fuse3
%description
A study is a text file with a question. Weir runs real servers on emulated or
real drives, repeats the runs, prints ratios with intervals, and refuses unfair
comparisons.
%package flashback
Summary: Shows MySQL and MariaDB tables as they were, and undoes changes
Group: Applications/Databases
Conflicts: weir
%description flashback
It reads the binary log of a stock server, without locks and without a backup.
The package weir has the same as its command flashback.
%package sysbench
Summary: Weir under the name of sysbench
Group: Applications/Databases
BuildArch: noarch
Requires: weir = $version
Conflicts: sysbench
%description sysbench
Scripts that call sysbench load servers with Weir: the same options and report.
%changelog
* $(LC_ALL=C date -u --date="@$SOURCE_DATE_EPOCH" '+%a %b %d %Y') $MAINTAINER - $version-1
- See /usr/share/doc/weir/CHANGELOG.md
%install
cp -a $work/weir/. %{buildroot}
cp -a $work/weir-flashback/. %{buildroot}
ln -s weir %{buildroot}/usr/bin/sysbench
ln -s weir-load.1.gz %{buildroot}/usr/share/man/man1/sysbench.1.gz
%files
/usr/bin/weir
/usr/share/weir
/usr/share/man/man1/weir*
/usr/share/bash-completion/completions/weir
/usr/share/zsh/site-functions/_weir
/usr/share/fish/vendor_completions.d/weir.fish
%doc /usr/share/doc/weir
%license /usr/share/licenses/weir/LICENSE
%files flashback
/usr/bin/weir-flashback
/usr/share/man/man1/weir-flashback*
%doc /usr/share/doc/weir-flashback
%license /usr/share/licenses/weir/LICENSE
%files sysbench
/usr/bin/sysbench
/usr/share/man/man1/sysbench.1.gz
SPEC
}

# A small Debian with the package in it, as an OCI image in an archive.
make_image() {
    # shellcheck disable=SC1091 # the system's own
    suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,fuse3 "$suite" "$work/rootfs" >&2
    dpkg-deb -x "$out/weir_${version}_$architecture_deb.deb" "$work/rootfs"
    rm -rf "$work/rootfs/var/cache/apt" "$work/rootfs/var/lib/apt/lists"
    umoci init --layout "$work/image"
    umoci new --image "$work/image:$version"
    umoci insert --image "$work/image:$version" "$work/rootfs" /
    umoci config --image "$work/image:$version" --config.entrypoint /usr/bin/weir \
        --created "$(date -u --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" \
        --config.workingdir /work --config.label "org.opencontainers.image.version=$version"
    umoci gc --layout "$work/image"
    tar -C "$work/image" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cf "$out/weir-$version-oci-$architecture.tar" .
}

# make_sbom PACKAGE: the crates in its program, as CycloneDX. The tool names the workspace's crates by their folders here.
make_sbom() {
    (cd "$root" && cargo cyclonedx --quiet --manifest-path "crates/$1/Cargo.toml" --format json \
        --override-filename weir-sbom)
    sed "s#$root#/usr/src/weir#g" "$root/crates/$1/weir-sbom.json" >"$out/$1-$version.cdx.json"
    # Those of the workspace's other crates are written beside it.
    find "$root/crates" "$root/lab" -maxdepth 2 -name weir-sbom.json -delete
    check_paths "$out/$1-$version.cdx.json"
}

main "$@"
