#!/usr/bin/env bash
# How far off predictions are that were written down before anything of the like was run: four pools on each of
# five drives, for each server and workload, calibrated on two runs with other pools on one of the drives.
# `lab/bench-blind.sh DIR [WEIR]`; what DIR has already is not made again. SERVERS, WORKLOADS, DRIVES and POOLS choose; RUNS
# is how often each place is run; WARMUP and MEASURE are the times of read write.
set -euo pipefail

folder=$1
weir=${2:-target/release/weir}
drives=${DRIVES:-intel-p4610,intel-p3700-400gb,consumer-tlc,scaleflux-csd2000,fusionio-iodrive-320-mlc}
# Of data of about 200 MB, of which 172 MB are used: a third, half, the knee, all.
pools=${POOLS:-64M,104M,152M,256M}
mkdir -p "$folder"

# Throughput by 1/25 or 1/10: two cores could not keep such drives busy. A page cleaner's first work, some 5,000 pages, is
# to be over when a measurement begins; all of it is over before MySQL's averages of what it writes begin to count (30 s). MariaDB
# writes nothing until its redo log is three quarters full: a pool that holds everything takes a warm-up of a minute.
study() {
    local server=$1 workload=$2 redo=256M scale=1/25 warmup=6s measure=6s
    if [ "$workload" = oltp_read_write ]; then
        redo=64M scale=1/10 warmup=${WARMUP:-19s} measure=${MEASURE:-10s}
    fi
    cat <<EOF
[study]
title = "Blind predictions: $workload on $server"
question = "How far off are predictions of drives and pools that nobody ran?"
[server]
flavor = "$server"
pool = "warm"
[server.config]
innodb_redo_log_capacity = "$redo"
innodb_flush_method = "O_DIRECT"
innodb_flush_log_at_trx_commit = 1
innodb_flush_neighbors = 0
$([ "$server" = mariadb ] || echo 'innodb_buffer_pool_chunk_size = "1M"')
[data]
workload = "$workload"
tables = 4
rows = 200_000
scale = { drive = "$scale" }
[load]
threads = 16
distribution = "uniform"
warmup = "$warmup"
measure = "$measure"
[factors]
drive = ["intel-p4610"]
innodb_buffer_pool_size = ["320M", "88M"]
[repeat]
runs = 1
EOF
}

for server in ${SERVERS:-mysql mariadb}; do
    for workload in ${WORKLOADS:-oltp_read_only oltp_read_write}; do
        name=$folder/$server-$workload
        [ -s "$name.json" ] && continue
        study "$server" "$workload" >"$name.toml"
        rm -rf "$name" "$name-verified"
        "$weir" run "$name.toml" --out "$name" >"$name.log" || [ $? -eq 3 ]
        "$weir" predict verify "$name" --drive "$drives" --pool "$pools" --runs "${RUNS:-1}" --out "$name-verified" \
            --json >"$name.unfinished"
        mv "$name.unfinished" "$name.json"
        for which in blind controlled anchored; do
            echo "$name.json: $which $(grep -om1 "\"${which}_error_mean\": [0-9.]*" "$name.json" | cut -d' ' -f2) off on average" >&2
        done
    done
done
