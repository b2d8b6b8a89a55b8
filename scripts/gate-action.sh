#!/bin/sh
# Installs Weir in a job of CI, and runs a gate there. The GitHub action (action.yml), the GitLab template
# (docs/gitlab-ci.yml) and a test call it. docs/ci.md has the options.
#
#   scripts/gate-action.sh install   the program and a server; prints nothing but what it does
#   scripts/gate-action.sh gate      a study, or a result that is there, and its gate
#
# All options are variables of the environment:
#
#   WEIR_PACKAGE     a .deb or .tar.xz, as a file or an https address; without one, the program of the PATH is taken,
#                    and if there is none, the checkout is built
#   WEIR_SHA256      checksum of the package; a package from an address needs one
#   WEIR_SERVER      mariadb (default), mysql, or none
#   WEIR             the program; default: weir of the PATH
#   WEIR_STUDY       the study, or the folder of a result
#   WEIR_BASELINE    a second study or result, which it is compared with
#   WEIR_FACTOR      without a baseline: the factor whose levels are compared
#   WEIR_REDUCED     true: the shorter version of the study ([reduced])
#   WEIR_WORK        folder on the storage that is measured
#   WEIR_GATE        the loss of queries per second that fails, such as -5%; empty: no such condition
#   WEIR_GATE_P99    the growth of p99 latency that fails, such as +10%
#   WEIR_GATE_STATEMENT  lines of `TEXT +5%`: statements with this text may take so much longer
#   WEIR_GATE_EQUAL  both must be equal within this, such as 5%
#   WEIR_UNDECIDED   fail (default): exit code 4 if the runs cannot tell; warn: a warning, and exit code 0
#   WEIR_OUT         folder of results, report, summary.md and gate.xml; default: weir-gate
#
# Exit codes are those of `weir compare`: 0 passed, 1 failed, 3 a rule refuses a comparison, 4 undecided.
set -eu

scripts=$(dirname "$(readlink -f "$0")")
root=$(dirname "$scripts")
# A step's summary holds 1 MiB on GitHub.
SUMMARY_BYTES=900000

say() { printf '%s\n' "$*" >&2; }
die() {
    say "gate: $*"
    exit 1
}

main() {
    case ${1:-} in
    install) install_weir && install_server ;;
    gate) gate ;;
    *) die "unknown command: ${1:-none}; use install or gate" ;;
    esac
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_weir() {
    package=${WEIR_PACKAGE:-}
    if [ -z "$package" ]; then
        ! command -v "${WEIR:-weir}" >/dev/null || return 0
        [ -f "$root/Cargo.toml" ] || die "WEIR_PACKAGE: empty, and $root is no checkout; name a package"
        make -C "$root" setup release
        on_path "$root/target/release"
        return
    fi
    case $package in
    https://*)
        [ -n "${WEIR_SHA256:-}" ] || die "WEIR_SHA256: empty; name the checksum of $package, from its SHA256SUMS"
        file=$(mktemp -d)/$(basename "$package")
        curl --fail --silent --show-error --location --output "$file" "$package"
        package=$file
        ;;
    *) [ -f "$package" ] || die "WEIR_PACKAGE: no file $package; name a .deb, a .tar.xz or an https address" ;;
    esac
    if [ -n "${WEIR_SHA256:-}" ]; then
        printf '%s  %s\n' "$WEIR_SHA256" "$package" | sha256sum --check --status - ||
            die "$package: its checksum is not WEIR_SHA256; take both from one release"
    fi
    case $package in
    *.deb)
        as_root apt-get update -qq
        as_root apt-get install -y -qq --no-install-recommends "$(readlink -f "$package")"
        ;;
    *.tar.xz)
        folder=$(mktemp -d)
        tar -xf "$package" -C "$folder"
        program=$(find "$folder" -name weir -type f -perm -u+x | head -n 1)
        [ -n "$program" ] || die "$package: has no program weir"
        on_path "$(dirname "$program")"
        ;;
    *) die "WEIR_PACKAGE: $package is neither .deb nor .tar.xz" ;;
    esac
}

# on_path FOLDER: for the job's later steps.
on_path() {
    if [ -n "${GITHUB_PATH:-}" ]; then printf '%s\n' "$1" >>"$GITHUB_PATH"; else as_root ln -sf "$1/weir" /usr/local/bin/weir; fi
}

install_server() {
    case ${WEIR_SERVER:-mariadb} in
    none) ;;
    mariadb)
        command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] ||
            { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends mariadb-server-core; }
        ;;
    mysql)
        [ -x "$scripts/install-mysql.sh" ] || die "WEIR_SERVER: mysql needs scripts/install-mysql.sh of a checkout; install a server and use none"
        "$scripts/install-mysql.sh"
        ;;
    *) die "WEIR_SERVER: $WEIR_SERVER is not mariadb, mysql or none" ;;
    esac
}

gate() {
    weir=${WEIR:-weir}
    out=${WEIR_OUT:-weir-gate}
    mkdir -p "$out"
    [ -n "${WEIR_STUDY:-}" ] || die "WEIR_STUDY: empty; name a study or the folder of a result"
    [ -n "${WEIR_BASELINE:-}${WEIR_FACTOR:-}" ] || die "WEIR_BASELINE and WEIR_FACTOR: both empty; name one of them"
    [ -n "${WEIR_GATE:-}${WEIR_GATE_P99:-}${WEIR_GATE_STATEMENT:-}${WEIR_GATE_EQUAL:-}" ] ||
        die "WEIR_GATE: empty, as are the other conditions; without one nothing can fail"
    if [ -n "${WEIR_BASELINE:-}" ]; then
        result_of "$WEIR_BASELINE" "$out/baseline"
        set -- "$result"
    else
        set -- --factor "$WEIR_FACTOR"
    fi
    result_of "$WEIR_STUDY" "$out/result"
    set -- "$@" "$result"
    [ -z "${WEIR_GATE:-}" ] || set -- "$@" --gate "$WEIR_GATE"
    [ -z "${WEIR_GATE_P99:-}" ] || set -- "$@" --gate-p99 "$WEIR_GATE_P99"
    [ -z "${WEIR_GATE_EQUAL:-}" ] || set -- "$@" --gate-equal "$WEIR_GATE_EQUAL"
    while IFS= read -r line; do
        [ -z "$line" ] || set -- "$@" --gate-statement "${line% *}" "${line##* }"
    done <<END
${WEIR_GATE_STATEMENT:-}
END
    code=0
    "$weir" compare "$@" --color never --junit "$out/gate.xml" >"$out/gate.txt" || code=$?
    cat "$out/gate.txt"
    verdict
    summary
    exit "$code"
}

# result_of STUDY FOLDER: runs the study into the folder, unless it is a result. Sets `result`.
result_of() {
    result=$1
    [ ! -d "$1" ] || return 0
    [ -f "$1" ] || die "no study or result $1"
    result=$2
    set -- run "$1" --out "$2"
    [ "${WEIR_REDUCED:-false}" != true ] || set -- "$@" --reduced
    [ -z "${WEIR_WORK:-}" ] || set -- "$@" --work "$WEIR_WORK"
    ran=0
    "$weir" "$@" || ran=$?
    # 3: a rule refuses a comparison. The gate below says which, and whether it was asked for.
    [ "$ran" -eq 0 ] || [ "$ran" -eq 3 ] || exit "$ran"
}

# Names the outcome, and turns "undecided" into a warning if that is asked for.
verdict() {
    case $code in
    0) word=passed ;;
    1) word=failed ;;
    3) word=refused ;;
    4) word=undecided ;;
    *) die "weir compare ended with exit code $code" ;;
    esac
    if [ "$word" = undecided ] && [ "${WEIR_UNDECIDED:-fail}" = warn ]; then
        [ -z "${GITHUB_ACTIONS:-}" ] || printf '::warning title=Weir::The runs are too few or too noisy to decide the gate.\n'
        say 'gate: undecided; a warning only, since WEIR_UNDECIDED is warn'
        code=0
    fi
    [ -z "${GITHUB_OUTPUT:-}" ] || printf 'verdict=%s\n' "$word" >>"$GITHUB_OUTPUT"
}

# The gate's text and the report, as Markdown, also into the step's summary.
summary() {
    {
        printf '## Weir gate: %s\n\n```\n' "$word"
        cat "$out/gate.txt"
        printf '```\n\n'
        "$weir" report "$result" --format md
    } >"$out/summary.md"
    [ -n "${GITHUB_STEP_SUMMARY:-}" ] || return 0
    head -c "$SUMMARY_BYTES" "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
    if [ "$(wc -c <"$out/summary.md")" -gt "$SUMMARY_BYTES" ]; then
        printf '\n\nThe rest is in summary.md of the artifact.\n' >>"$GITHUB_STEP_SUMMARY"
    fi
}

main "$@"
