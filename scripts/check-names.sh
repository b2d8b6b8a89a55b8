#!/bin/sh
# Names and documentation comments in code: counts three forms that readers have to decode, and refuses more of
# them than `scripts/name-counts` allows. Its numbers may only fall.
#
#   scripts/check-names.sh                  compares the counts with the stored ones, as `make check` does
#   scripts/check-names.sh --list [KIND]    all places as FILE:LINE, of one kind or of each
#
# Kinds: `comment`: a documentation comment that begins with "What", "Whether", "Its", "That" or "How" and asks
# nothing. `of`: a function `of`, where `new`, `parse`, `from_x` or `for_x` tell more. `participle`: a type that is
# named by a participle alone.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."

list() {
    find crates lab -name '*.rs' ! -path '*/target/*' | sort | xargs awk '
    BEGIN {
        irregular = " Begun Broken Built Came Chosen Done Drawn Found Frozen Given Goes Held Hidden Kept Known Left" \
            " Lost Made Read Said Seen Sent Set Shown Swept Taken Told Written "
        # Nouns that only look like participles.
        nouns = " Feed Need Seed Speed Beginning Blocking Counting Doing Ending Feeding Finding Flushing Greeting" \
            " Happening Meaning Outstanding Pairing Provisioning Quoting Recording Setting Spelling Timing "
    }
    function found(kind) { printf "%s:%d: %s: %s\n", FILENAME, FNR, kind, $0 }
    FNR == 1 { within = 0 }
    /^ *\/\/[\/!]/ {
        if (!within && FILENAME ~ /\/src\// && $0 !~ /\?/ && $2 ~ /^(What|Whether|Its|That|How)$/) found("comment")
        within = 1
        next
    }
    { within = 0 }
    /(^|[^a-z_])fn of *[(<]/ { found("of") }
    /^ *(pub(\([a-z: ]+\))? )?(struct|enum|trait|type|union) [A-Z]/ {
        name = $0
        sub(/^ *(pub(\([a-z: ]+\))? )?(struct|enum|trait|type|union) /, "", name)
        sub(/[^A-Za-z0-9].*/, "", name)
        if ((name ~ /^[A-Z][a-z]+(ed|ing)$/ && index(nouns, " " name " ") == 0) || index(irregular, " " name " "))
            found("participle")
    }'
}

if [ "${1:-}" = --list ]; then
    list | if [ $# -gt 1 ]; then grep ": $2: " || true; else cat; fi
    exit
fi

status=0
found=$(list)
for kind in comment of participle; do
    most=$(sed -n "s/^$kind //p" scripts/name-counts)
    count=$(printf '%s\n' "$found" | grep -c ": $kind: " || true)
    if [ "$count" -gt "$most" ]; then
        status=1
        echo "scripts/name-counts: $kind: $count in the code (at most $most may be there); name new ones plainly, see" \
            "scripts/check-names.sh --list $kind. In changed files:"
        changed=$(git diff --name-only HEAD 2>/dev/null || true)
        for file in $changed; do printf '%s\n' "$found" | grep "^$file:.*: $kind: " || true; done
    elif [ "$count" -lt "$most" ]; then
        status=1
        echo "scripts/name-counts: $kind: $most (the code has only $count); write $count, so that it stays so"
    fi
done
exit $status
