#!/usr/bin/env bash
# What a load from several agents costs, in three parts; all processes are on this host.
#
#   lab/bench-agents.sh DIR [WEIR [PART...]]      PARTs: cost pairs beats, all of them if none is named
#
# cost: processor time of bus, conductor and agents, bytes through the bus and in its store, time until the load begins,
#   and how far the lines of the conductor are behind, for each number of AGENTS with each number of CONNECTIONS. The
#   server is a null server.
# pairs: 64 connections of one process beside those of four agents with 16 each, on a private server, in turns: ratios of
#   throughput and of processor time per query.
# beats: four agents load a null server with all cores for BEATS_S seconds: an agent that gives signs of life must not be
#   taken for lost.
#
# Writes DIR/cost.json, DIR/pairs.json and DIR/beats.json.
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
weir=$(realpath "${2:-target/release/weir}")
shift $(($# < 2 ? $# : 2))
parts=${*:-cost pairs beats}
agents_list=${AGENTS:-2 5 10}
connections_list=${CONNECTIONS:-100 1000}
cost_s=${COST_S:-30}
pairs=${PAIRS:-5}
pair_s=${PAIR_S:-18}
beats_s=${BEATS_S:-600}
server=${SERVER:-mysql}
ulimit -n "$(ulimit -Hn)"
# shellcheck source=lab/agents-crew.sh
. "$(dirname "$0")/agents-crew.sh"

# Runs a load from all agents, and notes when each of its lines came; sets $load and $began.
start_load() {
    began=$EPOCHREALTIME
    "$weir" load oltp_point_select --mysql-host=127.0.0.1 --mysql-port="$port" "$@" --report-interval=1 run \
        > >(while IFS= read -r line; do echo "$EPOCHREALTIME $line"; done >"$folder/load.out") \
        2> >(while IFS= read -r line; do echo "$EPOCHREALTIME $line"; done >"$folder/load.err") &
    load=$!
    started+=("$load")
}

# The load has ended; its words are shown if it failed.
end_load() {
    local status=0
    wait "$load" || status=$?
    sleep 0.3
    if [ "$status" -ne 0 ]; then
        cat "$folder/load.err" >&2
        exit 1
    fi
}

# When the load was to begin, by the line that says so: "<at> ... the load begins in <s> s".
begins_at() { awk '/the load begins in/ { printf "%.6f", $1 + $(NF - 1); exit }' "$folder/load.err"; }

# cost_of AGENTS CONNECTIONS LOAD-OPTION...: one line of JSON.
cost_of() {
    local agents=$1 connections=$2 from before to after store
    shift 2
    start_load --agents="$agents" --threads=$((agents * connections)) --time="$cost_s" --reactors=2 "$@"
    until grep -q 's \] thds' "$folder/load.out" 2>/dev/null; do
        kill -0 "$load" 2>/dev/null || end_load
        sleep 0.1
    done
    # The seconds in the middle: neither connecting nor the end.
    sleep 2
    from=$EPOCHREALTIME
    before="$(cpu_s "$bus") $(cpu_s "$load") $(cpu_s "${members[@]}") $(bytes_of "$bus")"
    sleep $((cost_s - 6))
    to=$EPOCHREALTIME
    after="$(cpu_s "$bus") $(cpu_s "$load") $(cpu_s "${members[@]}") $(bytes_of "$bus")"
    store=$(store_bytes)
    local memory="$(memory_mib "$bus") $(memory_mib "$load") $(memory_mib "${members[@]}")"
    end_load
    local lags
    lags=$(awk -v start="$(begins_at)" '
        $2 == "[" && start { lag = $1 - start - ++second; if (lag > most) most = lag }
        END { printf "%s", start ? sprintf("%.2f", most) : "null" }' "$folder/load.out")
    local first spread
    # How far an agent's start may be from the agreed one: the clock's error and the lateness.
    spread=$(sed -n 's/.*start within \([0-9]*\) us (clock) + \([0-9]*\) us.*/\1 \2/p' "$folder/load.err" |
        awk '{ at = $1 + $2; if (at > most) most = at } END { print most + 0 }')
    first=$(awk -v began="$began" '$2 == "[" { printf "%.1f", $1 - began; exit }' "$folder/load.out")
    echo "$before $after $from $to $store $memory" | awk -v agents="$agents" -v connections="$connections" \
        -v first="$first" -v lag="$lags" -v spread="$spread" '{
        s = $10 - $9
        printf "{\"agents\":%d,\"connections_per_agent\":%d,\"seconds\":%.1f,\"first_line_s\":%s,\"line_late_s_max\":%s,",
            agents, connections, s, first, lag
        printf "\"bus_cores\":%.4f,\"conductor_cores\":%.4f,\"agents_cores\":%.4f,\"bus_bytes_per_agent_s\":%.0f,",
            ($5 - $1) / s, ($6 - $2) / s, ($7 - $3) / s, ($8 - $4) / s / agents
        printf "\"start_within_us_max\":%d,\"store_bytes\":%d,\"bus_mib\":%s,\"conductor_mib\":%s,\"agents_mib\":%s}", spread, $11, $12, $13, $14
    }'
}

cost() {
    local agents connections rows='' row
    for agents in $agents_list; do
        for connections in $connections_list; do
            crew_up "$agents"
            # It answers after 50 ms: the cores have time for the rest.
            null_server --delay=50ms
            row=$(cost_of "$agents" "$connections" --rate=$((agents * 100)))
            end_all
            echo "$row" >&2
            rows="$rows${rows:+,}$row"
        done
    done
    # Two agents that do as much as they can: their histograms are full.
    crew_up 2
    null_server --delay=2ms --delays=exponential
    row=$(cost_of 2 32)
    end_all
    echo "$row" >&2
    echo "{\"cost\":[$rows],\"busy\":$row}" | tee "$folder/cost.json"
}

# The processes' time and the load's own, per query: "<queries/s> <reactors' us> <all processes' us>".
arm() {
    local before after
    before=$(cpu_s "$bus" "${members[@]}")
    local TIMEFORMAT='%U %S'
    { time "$weir" load oltp_read_only --defaults-file="$login" --tables=4 --table-size=25000 --threads=64 \
        --time="$pair_s" --warmup-time=2 --json=on "$@" run >"$folder/arm.json" 2>"$folder/arm.err"; } 2>"$folder/arm.time"
    after=$(cpu_s "$bus" "${members[@]}")
    jq -r --arg own "$(tail -1 "$folder/arm.time")" --arg others "$before $after" '
        ($own | split(" ") | map(tonumber) | add) as $own | ($others | split(" ") | map(tonumber)) as $others |
        "\(.queries_per_s) \(.client_cpu_us_per_query) \(($own + $others[1] - $others[0]) * 1e6 / .counts_whole_run.queries)"
    ' "$folder/arm.json"
}

# Mean of ratios and its interval (95 %), of a column of numbers on standard input.
ratio() {
    awk '{ x[NR] = log($1); sum += x[NR] }
        END {
            split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
            mean = sum / NR
            for (i = 1; i <= NR; i++) squares += (x[i] - mean) ^ 2
            half = t[NR - 1] * sqrt(squares / (NR - 1) / NR)
            printf "{\"mean\":%.4f,\"low\":%.4f,\"high\":%.4f}", exp(mean), exp(mean - half), exp(mean + half)
        }'
}

pairs() {
    local pair one four line
    crew_up 4
    "$weir" server up agents-bench --server "$server" --set innodb_buffer_pool_size=256M --json \
        >"$folder/server.json"
    trap '"$weir" server down agents-bench --remove >/dev/null 2>&1 || true; end_all' EXIT
    login=$(jq -r .client_options "$folder/server.json")
    "$weir" load oltp_read_only --defaults-file="$login" --tables=4 --table-size=25000 prepare >/dev/null
    : >"$folder/ratios"
    for pair in $(seq "$pairs"); do
        # As many threads drive the connections in either arm; which is first takes turns.
        if [ $((pair % 2)) -eq 1 ]; then
            one=$(arm --reactors=4)
            four=$(arm --agents=4 --reactors=1)
        else
            four=$(arm --agents=4 --reactors=1)
            one=$(arm --reactors=4)
        fi
        echo "pair $pair: one process $one, four agents $four" >&2
        line=$(echo "$one $four" | awk '{ print $4 / $1, $5 / $2, $6 / $3 }')
        echo "$line" >>"$folder/ratios"
    done
    printf '{"server":"%s","pairs":%d,"queries_per_s":%s,"reactors_cpu_per_query":%s,"processes_cpu_per_query":%s}\n' \
        "$server" "$pairs" "$(cut -d' ' -f1 "$folder/ratios" | ratio)" "$(cut -d' ' -f2 "$folder/ratios" | ratio)" \
        "$(cut -d' ' -f3 "$folder/ratios" | ratio)" | tee "$folder/pairs.json"
    "$weir" server down agents-bench --remove >/dev/null
    trap end_all EXIT
    end_all
}

# Time that the cores have not been used so far, seconds.
idle_s() { awk -v ticks="$ticks" '/^cpu / { printf "%.2f", ($5 + $6) / ticks }' /proc/stat; }

beats() {
    local before status=0 idle
    crew_up 4
    null_server
    before=$(idle_s)
    start_load --agents=4 --threads=64 --time="$beats_s" --reactors=2
    wait "$load" || status=$?
    idle=$(idle_s)
    sleep 0.3
    awk -v s="$beats_s" -v failed="$status" -v idle="$before $idle" -v cores="$(nproc)" '
        match($0, /silent for at most [0-9.]+/) {
            silent = substr($0, RSTART + 19, RLENGTH - 19) + 0
            if (silent > most) most = silent
        }
        / lost / { lost++ }
        END {
            split(idle, at, " ")
            printf "{\"seconds\":%d,\"failed\":%s,\"lost\":%d,\"longest_silence_s\":%s,\"cores_idle\":%.3f}\n", s,
                failed ? "true" : "false", lost, most ? most : "null", (at[2] - at[1]) / s / cores
        }' "$folder/load.err" | tee "$folder/beats.json"
    end_all
    [ "$status" -eq 0 ]
}

for part in $parts; do
    case $part in
        cost | pairs | beats) "$part" ;;
        *) echo "$part: no such part; name cost, pairs or beats" >&2; exit 2 ;;
    esac
done
