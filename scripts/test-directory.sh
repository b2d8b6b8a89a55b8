#!/usr/bin/env bash
# Prints the folder for the data of tests: memory where there is room for five servers, else the usual one. Servers flush
# often, and tests ask what they do, not how fast a drive is.
set -euo pipefail
usual=${TMPDIR:-/tmp}
memory=/dev/shm
needed_kb=8000000
free_kb=$(df --output=avail -k "$memory" 2>/dev/null | tail -n 1 || true)
available_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
if [ -w "$memory" ] && [ "${free_kb:-0}" -gt "$needed_kb" ] && [ "${available_kb:-0}" -gt "$needed_kb" ]; then
    echo "$memory"
else
    echo "$usual"
fi
