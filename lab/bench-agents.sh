#!/bin/sh
# What a load from several hosts costs: processor time of the bus, of the conductor and of all agents, bytes through the
# bus and in its store, for each agent and second.
#
#   lab/bench-agents.sh OUT WEIR [AGENTS [CONNECTIONS [SECONDS]]]
#
# All processes are on this host, and the server is a null server: rates mean nothing, costs of the bus and of the
# conductor do. Standard output gets one line of JSON; OUT keeps the logs.
set -eu

out=$1 weir=$2 agents=${3:-10} connections=${4:-1000} seconds=${5:-20}
ticks=$(getconf CLK_TCK)
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/bus"
ulimit -n "$(ulimit -Hn)"
export XDG_STATE_HOME="$out" WEIR_BUS="$out/bus/conductor.join"
ids=

# Ends what was started, and nothing else.
end() {
    for id in $ids; do
        kill "$id" 2>/dev/null || true
    done
    wait
}
trap end EXIT

# Starts a command; its log is $out/NAME.log. Sets $id.
start() {
    name=$1
    shift
    "$@" >"$out/$name.log" 2>&1 &
    id=$!
    ids="$id $ids"
}

# Waits until a log has a text.
wait_for() {
    tries=0
    until grep -q "$2" "$out/$1.log"; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { echo "$1: no \"$2\" in 30 s; see $out/$1.log" >&2; exit 1; }
        sleep 0.1
    done
}

# Processor time of processes so far, seconds.
cpu() {
    for process in "$@"; do
        sed 's/.*) //' "/proc/$process/stat"
    done | awk -v ticks="$ticks" '{ used += $12 + $13 } END { print used / ticks }'
}

# Bytes that a process has read and written so far; of nats-server nearly all are of its connections.
bytes() {
    awk '/^[rw]char/ { all += $2 } END { print all }' "/proc/$1/io"
}

start bus "$weir" bus up --listen 127.0.0.1:0 --agents "$agents" --dir "$out/bus"
bus=$id
wait_for bus "on a load host"
nats=$(cut -d' ' -f1 "/proc/$bus/task/$bus/children")
members=
for number in $(seq "$agents"); do
    start "agent-$number" "$weir" agent --join "$out/bus/agent-$number.join"
    members="$members $id"
done
for number in $(seq "$agents"); do
    wait_for "agent-$number" "joined the bus"
done
# It answers after 50 ms, so that the cores have time for the rest.
start server "$weir" load null-server --port=0 --delay=50ms
wait_for server "127.0.0.1:"
port=$(grep -o '127\.0\.0\.1:[0-9]*' "$out/server.log" | head -1 | cut -d: -f2)

start load "$weir" load oltp_point_select --mysql-host=127.0.0.1 --mysql-port="$port" \
    --threads=$((agents * connections)) --agents="$agents" --rate=$((agents * 100)) --time="$seconds" \
    --report-interval=1 run
load=$id
began=$(date +%s.%N)
wait_for load "s ]"
ready=$(date +%s.%N)
# The seconds in the middle: neither connecting nor the end.
sleep 2
from=$(date +%s.%N)
before="$(cpu "$nats") $(cpu "$load") $(cpu $members) $(bytes "$nats")"
sleep $((seconds - 6))
after="$(cpu "$nats") $(cpu "$load") $(cpu $members) $(bytes "$nats")"
to=$(date +%s.%N)
store=$(du -sb "$out/bus" | cut -f1)
wait "$load" || { cat "$out/load.log" >&2; exit 1; }

echo "$before $after $from $to $began $ready $agents $connections $store" | awk '{
    length_s = $10 - $9
    printf "{\"agents\": %d, \"connections_per_agent\": %d, \"seconds\": %.1f, ", $13, $14, length_s
    printf "\"ready_s\": %.1f, ", $12 - $11
    printf "\"bus_cores\": %.4f, \"conductor_cores\": %.4f, \"agents_cores\": %.4f, ", \
        ($5 - $1) / length_s, ($6 - $2) / length_s, ($7 - $3) / length_s
    printf "\"bus_bytes_per_agent_s\": %.0f, \"store_bytes\": %d}\n", ($8 - $4) / length_s / $13, $15
}'
