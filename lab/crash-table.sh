#!/usr/bin/env bash
# The crash lab's table: what each drive, doublewrite setting and flush setting lost, on both servers.
# `lab/crash-table.sh DIR [WEIR]` makes each test that DIR does not have yet, so it can be stopped and
# started again; the table itself is printed by `crash_table` of this crate. A cell is a test for each of SEEDS,
# each with STATES crash states of a recording of its own; all cells have their first one before any has its
# second. CELL_PREFIX is put before each command (as in `nice`).
set -euo pipefail

folder=$1
weir=${2:-target/release/weir}
states=${STATES:-100}
mkdir -p "$folder"

# One test of a cell: server, name of the drive, its rules, doublewrite, flush_log_at_trx_commit, further options.
cell() {
    local server=$1 drive=$2 rules=$3 doublewrite=$4 flush=$5
    local name=$server-$drive-$doublewrite-$flush-$seed
    shift 5
    [ -e "$folder/$name/crash-test.json" ] && return
    rm -rf "${folder:?}/$name"
    local status=0
    # shellcheck disable=SC2086 # rules and prefix are several words
    ${CELL_PREFIX:-} "$weir" crash-test run --server "$server" --drive scaleflux-csd2000 $rules \
        --doublewrite "$doublewrite" --flush-log-at-trx-commit "$flush" --states "$states" --all --seed "$seed" \
        --rows 3000 --seconds 6 --clients 4 --set innodb_buffer_pool_size=6M \
        --out "$folder/$name" "$@" >"$folder/$name.txt" 2>"$folder/$name.log" || status=$?
    # 1 (failed) and 3 (no verdict) are results.
    echo "$(date +%T) $name: exit $status" >&2
    # A failure where none should be is kept, to be replayed. All recordings of a table would take tens of
    # gigabytes; the same seed makes their like.
    case "$status $drive $doublewrite" in '1 atomic '* | '1 '*' on') return ;; esac
    rm -rf "$folder/$name"/{recording,control}/{base,recording}
}

both() { for server in mysql mariadb; do cell "$server" "$@"; done; }

atomic='--atomic 16K --cache power-protected'
sector='--atomic 512 --cache power-protected'
volatile='--atomic 512 --cache volatile'
lying='--atomic 512 --cache lying'

# The cells that the question hangs on.
essential() {
    both atomic "$atomic" off 1
    both sector "$sector" off 1
    both sector "$sector" on 1
    both volatile "$volatile" on 1
    both lying "$lying" on 1
}

further() {
    local flush doublewrite
    for flush in 1 2; do
        for doublewrite in on off; do
            both atomic "$atomic" "$doublewrite" "$flush"
            both sector "$sector" "$doublewrite" "$flush"
            both volatile "$volatile" "$doublewrite" "$flush"
        done
        cell mysql atomic "$atomic" detect_only "$flush"
        cell mysql sector "$sector" detect_only "$flush"
        cell mysql volatile "$volatile" detect_only "$flush"
        both killed "$sector" off "$flush" --cut process
    done
}

for seed in ${SEEDS:-1 2 3}; do
    essential
    further
done
