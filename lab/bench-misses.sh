#!/usr/bin/env bash
# How far the predicted shares of misses are from those that live servers count: six pools for each server,
# distribution of keys, and the text workload. `lab/bench-misses.sh DIR [WEIR]`; what DIR has already is not
# made again. A prediction takes from the runs only how fast they were, which tells whether a pool freezes.
# SERVERS chooses.
set -euo pipefail

folder=$1
weir=${2:-target/release/weir}
distributions='uniform zipfian pareto special'
mkdir -p "$folder"

# Of data of about 200 MB: a sixth to nine tenths.
study() {
    local server=$1 workload=$2 rows=$3 levels=$4
    cat <<EOF
[study]
title = "Misses: $workload on $server"
question = "How many of the page references does a pool miss?"
[server]
flavor = "$server"
[server.config]
innodb_flush_method = "O_DIRECT"
$([ "$server" = mariadb ] || echo 'innodb_buffer_pool_chunk_size = "1M"')
[data]
workload = "$workload"
tables = 4
rows = $rows
scale = { drive = "1/5" }
[load]
threads = 8
warmup = "10s"
measure = "6s"
[factors]
drive = ["intel-p4610"]
distribution = [$levels]
innodb_buffer_pool_size = ["32M", "64M", "96M", "128M", "160M", "184M"]
[repeat]
runs = 1
EOF
}

measure() {
    local server=$1 workload=$2 rows=$3 levels=$4
    local name=$folder/$server-$workload
    study "$server" "$workload" "$rows" "$levels" >"$name.toml"
    if [ ! -s "$name.log" ]; then
        rm -rf "$name"
        "$weir" run "$name.toml" --out "$name" >"$name.unfinished" || [ $? -eq 3 ]
        mv "$name.unfinished" "$name.log"
    fi
}

predict() {
    local name=$folder/$1-$2
    "$weir" predict result "$name" --where "distribution=$3" --pool 32M,64M,96M,128M,160M,184M --json >"$name-$3.json"
    echo "$1 $2 $3: $(grep -om1 '"miss_ratio_off_max": [0-9.]*' "$name-$3.json" | cut -d' ' -f2) off at most" >&2
}

for server in ${SERVERS:-mysql mariadb}; do
    measure "$server" oltp_point_select 200_000 "$(printf '"%s",' $distributions)"
    for distribution in $distributions; do predict "$server" oltp_point_select "$distribution"; done
    measure "$server" oltp_text_read_only 110_000 '"uniform"'
    predict "$server" oltp_text_read_only uniform
done
