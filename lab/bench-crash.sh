#!/usr/bin/env bash
# What one recording saves: crash states judged a minute from it (A) beside a recording for each state (B),
# in turns, with 200 MB of data; the most memory that the lab takes; and whether a failure that was found is
# made again byte by byte. `lab/bench-crash.sh DIR [WEIR]`; DIR must not exist. Writes DIR/bench-crash.json.
set -euo pipefail

folder=$1
weir=${2:-target/release/weir}
server=${SERVER:-mysql}
rounds=${ROUNDS:-2}
states=${STATES:-40}
mkdir "$folder"

# Runs one test; prints its seconds and the most memory that its process took, KiB.
run() {
    local began=$EPOCHREALTIME peak=0 now
    "$weir" crash-test run --server "$server" --drive intel-p4610 --doublewrite off --atomic 512 --all \
        --rows 150000 --json "$@" >"$folder/last.json" 2>"$folder/last.log" &
    local pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        now=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
        peak=${now:-$peak}
        sleep 0.2
    done
    local status=0
    wait "$pid" || status=$?
    # 1: a state failed, as states have to on this drive; 3: the only one did not.
    case $status in 0 | 1 | 3) ;; *) cat "$folder/last.log" >&2; exit 1 ;; esac
    awk -v from="$began" -v to="$EPOCHREALTIME" -v peak="$peak" 'BEGIN { print to - from, peak }'
}

number() { grep -om1 "\"$1\": [0-9.]*" "$2" | cut -d' ' -f2; }

run --states 1 --seconds 1 --seed 1 --out "$folder/loading" >/dev/null
rows=''
for round in $(seq "$rounds"); do
    read -r _ peak < <(run --states "$states" --seconds 20 --seed "$round" --out "$folder/a$round")
    lab=$(awk -v n="$states" -v s="$(number judging_s "$folder/last.json")" 'BEGIN { print 60 * n / s }')
    read -r seconds _ < <(run --states 1 --seconds 20 --seed "$round" --out "$folder/b$round")
    rerun=$(awk -v s="$seconds" 'BEGIN { print 60 / s }')
    echo "round $round: $lab states a minute from one recording, $rerun rerun, $peak KiB at most" >&2
    rows="$rows${rows:+,}{\"states_per_minute\":$lab,\"rerun_per_minute\":$rerun,\"peak_kib\":$peak,\
\"events\":$(number events "$folder/a$round/crash-test.json"),\
\"recording_kib\":$(du -sk "$folder/a$round/recording/recording" | cut -f1)}"
done

state=$(number state <(grep -A2 '"verdict": "failed"' "$folder/a1/crash-test.json") || true)
replayed=null
if [ -n "$state" ]; then
    replayed=$("$weir" crash-test replay "$folder/a1" --state "$state" | grep -c 'the same bytes')
fi
printf '{"server":"%s","states":%s,"rounds":[%s],"failure_made_again":%s}\n' \
    "$server" "$states" "$rows" "$replayed" | tee "$folder/bench-crash.json"
