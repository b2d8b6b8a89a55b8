#!/bin/sh
# Plain words in README, docs and help: refuses sentences of more than 30 words and the forms that readers have to
# decode.
#
#   scripts/check-words.sh              all pages, the help and the documentation of the crates, as `make check` does
#   scripts/check-words.sh PAGE...      these pages
#   scripts/check-words.sh --lengths    also the median and the longest sentence of each page
#
# Without pages it also counts names and comments that readers have to decode (`check-names.sh`).
#
# Code, links' targets and table cells have no sentences. Cells are looked at for the forms only. Of Rust files the
# documentation comments count, and the fourth text of an option of `weir load`. Sentences may be longer where only
# the crate itself sees the item.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."

HELP='crates/weir/src/cli.rs crates/weir/src/cli/*.rs crates/weir/src/commands/load/null_server.rs
crates/weir-sysbench/src/options.rs'

lengths=0
if [ "${1:-}" = --lengths ]; then
    lengths=1
    shift
fi
names=0
if [ $# -eq 0 ]; then
    scripts/check-names.sh || names=1
    # shellcheck disable=SC2086 # a list of words
    set -- README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md docs/*/*.md $HELP \
        $(find crates -path '*/src/*' -name '*.rs' ! -path 'crates/weir/src/cli*')
fi

# shellcheck disable=SC2086 # a list of words
awk -v lengths="$lengths" -v words_max=30 -v help=" $(echo $HELP) " '
function fail(what) { printf "%s:%d: %s\n", page, line, what; failed = 1 }
function forms(text, lower) {
    lower = " " tolower(text) " "
    gsub(/[^a-z'\'' ]+/, " ", lower)
    if (match(lower, / (is|are|was) what | whoever | nobody | (is|are|was|were) (told|said|to be had) | to be had | maker'\''s word /))
        fail("write it plainly, not \"" substr(lower, RSTART + 1, RLENGTH - 2) "\"")
}
function sentence(text, words, n) {
    n = split(text, words, " ")
    if (n == 0) return
    if (n > words_max) {
        long = n " words in a sentence, at most " words_max ": " substr(text, 1, 60) "..."
        # Whether other crates see the item follows below its comment.
        if (is_inner) waiting[++waits] = long; else fail(long)
    }
    if (text ~ /^What / && text !~ /\?$/) fail("begin with the noun, not with \"What\": " substr(text, 1, 60))
    all[++count] = n
}
function paragraph(i) {
    gsub(/`[^`]*`/, "CODE", held)
    gsub(/\]\([^)]*\)/, "]", held)
    forms(held)
    gsub(/[*_]+/, "", held)
    while (match(held, /[.!?][)\]"]* +[A-Z0-9"(\[]/)) {
        sentence(substr(held, 1, RSTART))
        held = substr(held, RSTART + RLENGTH - 1)
    }
    sentence(held)
    held = ""
}
function report(i, j, kept) {
    if (lengths && count) {
        for (i = 2; i <= count; i++) { kept = all[i]; for (j = i; j > 1 && all[j-1] > kept; j--) all[j] = all[j-1]; all[j] = kept }
        printf "%s: %d sentences, median %d words, longest %d\n", page, count, all[int((count + 1) / 2)], all[count]
    }
    count = 0
}
FNR == 1 {
    if (page) { paragraph(); report() }
    if (seen[FILENAME]++) nextfile
    page = FILENAME; fenced = 0; waits = 0
    is_inner = FILENAME ~ /\.rs$/ && index(help, " " FILENAME " ") == 0
}
FILENAME ~ /\.rs$/ && /^ *\/\/\/ / { sub(/^ *\/\/\/ /, ""); if (held == "") line = FNR; held = held " " $0; next }
FILENAME ~ /\.rs$/ && /^ *"[a-z_-]+", [A-Z][a-z]+, "/ { line = FNR; split($0, texts, "\""); held = texts[6]; paragraph(); next }
FILENAME ~ /\.rs$/ {
    paragraph()
    if ($0 ~ /^ *pub /) for (i = 1; i <= waits; i++) fail(waiting[i])
    if ($0 !~ /^ *(#\[|\/\/\/)/) waits = 0
    next
}
/^ *```/ { paragraph(); fenced = !fenced; next }
fenced { next }
/^ *$/ || /^#/ { paragraph(); next }
/^\|/ { paragraph(); line = FNR; cells = $0; gsub(/`[^`]*`/, "CODE", cells); forms(cells); next }
/^ *([-*]|[0-9]+\.) / { paragraph(); sub(/^ *([-*]|[0-9]+\.) /, "") }
{ if (held == "") line = FNR; held = held " " $0 }
END { paragraph(); report(); exit failed }
' "$@"
exit $names
