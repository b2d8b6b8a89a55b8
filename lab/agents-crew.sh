# A bus and agents on this host, for the scripts of this folder that measure them. Sourced; set $weir and $folder first.
# What is started here ends with the script.

ticks=$(getconf CLK_TCK)
started=()
members=()

end_all() {
    local id
    # Agents first: they say goodbye to the bus.
    for id in "${members[@]}"; do
        kill "$id" 2>/dev/null || true
        wait "$id" || true
    done
    for id in "${started[@]}"; do
        kill "$id" 2>/dev/null || true
    done
    wait
    started=()
    members=()
}
trap end_all EXIT

# start NAME COMMAND...: runs it beside the script; its words go to NAME.log, its id to $id.
start() {
    local name=$1
    shift
    # Empty before it starts: words of an earlier process are not its own.
    : >"$folder/$name.log"
    "$@" >>"$folder/$name.log" 2>&1 &
    id=$!
    started+=("$id")
}

# wait_for NAME TEXT: until the words of NAME have TEXT, 60 s at most.
wait_for() {
    local tries=0
    until grep -q -- "$2" "$folder/$1.log"; do
        tries=$((tries + 1))
        if [ "$tries" -ge 600 ]; then
            echo "$1: no \"$2\" within 60 s; see $folder/$1.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

# crew_up AGENTS: a bus and so many agents; sets $bus, the id of nats-server, and $members, those of the agents.
crew_up() {
    local number
    export XDG_STATE_HOME=$folder/state WEIR_BUS=$folder/bus/conductor.join
    rm -rf "$folder/bus"
    start bus "$weir" bus up --listen 127.0.0.1:0 --agents "$1" --dir "$folder/bus"
    wait_for bus 'nats-server [0-9]'
    bus=$(sed -n 's/.*(nats-server \([0-9]*\)).*/\1/p' "$folder/bus.log")
    for number in $(seq "$1"); do
        start "agent-$number" "$weir" agent --join "$folder/bus/agent-$number.join"
        members+=("$id")
    done
    for number in $(seq "$1"); do
        wait_for "agent-$number" 'joined the bus'
    done
}

# null_server ARGUMENT...: a server that only answers; sets $port.
null_server() {
    start server "$weir" load null-server --port=0 "$@"
    wait_for server '127.0.0.1:'
    port=$(grep -o '127\.0\.0\.1:[0-9]*' "$folder/server.log" | head -1 | cut -d: -f2)
}

# Processor time that processes have used so far, seconds.
cpu_s() {
    local process
    for process in "$@"; do
        sed 's/.*) //' "/proc/$process/stat"
    done | awk -v ticks="$ticks" '{ used += $12 + $13 } END { printf "%.2f", used / ticks }'
}

# Bytes that a process has read and written so far; those of nats-server are of its connections and of its store.
bytes_of() { awk '/^[rw]char/ { all += $2 } END { printf "%d", all }' "/proc/$1/io"; }

# Memory of processes, MiB.
memory_mib() {
    local process
    for process in "$@"; do
        grep VmRSS "/proc/$process/status"
    done | awk '{ all += $2 } END { printf "%.1f", all / 1024 }'
}

# Bytes of a run's results that the bus keeps.
store_bytes() { du -sb "$folder/bus/store" 2>/dev/null | cut -f1; }
