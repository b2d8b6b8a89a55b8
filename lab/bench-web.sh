#!/usr/bin/env bash
# How long a reader waits for the report and for `weir serve`, in a real browser.
# `lab/bench-web.sh DIR [WEIR]`: makes DIR/results from a short real study (or the result named by
# REAL), asks each interaction of them several times, and writes DIR/bench-web.json.
set -euo pipefail

folder=$1
weir=$(realpath "${2:-target/release/weir}")
make_store=$(dirname "$weir")/make_store
mkdir -p "$folder/results" "$folder/studies"
folder=$(realpath "$folder")

cat >"$folder/studies/short.toml" <<'STUDY'
[study]
title = "Doublewrite on two drives"
question = "What does innodb_doublewrite = OFF gain?"
[server]
flavor = "mysql"
config = { innodb_buffer_pool_size = "96M", innodb_flush_method = "O_DIRECT" }
[data]
workload = "oltp_write_only"
tables = 2
rows = 100_000
scale = { drive = "1/25" }
[load]
threads = 32
distribution = "uniform"
warmup = "4s"
measure = "10s"
[factors]
drive = ["intel-p4610", "scaleflux-csd2000"]
innodb_doublewrite = ["ON", "OFF"]
[repeat]
runs = 2
STUDY

real=${REAL:-$folder/real/result.sqlite}
if [ ! -e "$real" ]; then
    "$weir" run "$folder/studies/short.toml" --out "$folder/real" || [ $? -eq 3 ]
fi
# CELLS REPETITIONS SAMPLES SEED
make() {
    [ -e "$folder/$1/result.sqlite" ] || { mkdir -p "$folder/$1" && "$make_store" "$real" "$folder/$1/result.sqlite" "${@:2}"; }
}
make hundred 20 5 500000 1
make results/large-a 200 10 10000000 2
make results/large-b 200 10 10000000 3
for number in $(seq -w 300); do
    mkdir -p "$folder/results/small-$number"
    cp -n "$real" "$folder/results/small-$number/result.sqlite"
done
"$weir" report "$folder/hundred" --out "$folder/hundred/report.html"
cd "$(dirname "$0")/../web"
WEIR=$weir WEIR_BENCH=$folder npx vitest run --config bench/vitest.config.ts
