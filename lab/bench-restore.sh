#!/bin/sh
# How long data take to be made and to be restored, on the folder's own file system and on XFS with
# reflinks (a file mounted as a loop device, which needs root).
#
#   lab/bench-restore.sh FOLDER PROGRAM     writes FOLDER/own.json and FOLDER/xfs.json
set -eu

folder=$1
program=$2
# Room for the data, its snapshot and one copy in flight, of 1 GiB each and shared.
SIZE=8G

mkdir -p "$folder"
uptime >&2
"$program" "$folder" >"$folder/own.json"

if [ "$(id -u)" -ne 0 ]; then
    echo "bench-restore: only root may mount a file system with reflinks; own.json is all there is" >&2
    exit 0
fi
image=$folder/xfs.image
mount=$folder/xfs
clean() {
    umount "$mount" 2>/dev/null || true
    rm -f "$image"
}
trap clean EXIT
trap 'exit 130' INT TERM
truncate -s "$SIZE" "$image"
/usr/sbin/mkfs.xfs -q -m reflink=1 "$image"
mkdir -p "$mount"
mount -o loop "$image" "$mount"
"$program" "$mount" >"$folder/xfs.json"
uptime >&2
