#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo: record an unmodified MPI program, look at what it did, do the same I/O again
# on another file system, without the program; and find why another one is slow, and what changes
# it. `make demo` builds first.
#
# usage: [BUILD=DIR] demo.sh        exit 0 only if every step worked and the replay did what was
#                                   recorded; 77 if there is no MPI
set -eu
cd "$(dirname "$0")/.."
build=$(pwd)/build
[ -z "${BUILD:-}" ] || build=$(cd "$BUILD" && pwd)
PATH=$build:$build/tools/whyio:$PATH
WIO_RANKS=4

fail() {
    echo "demo: $*" >&2
    exit 1
}

command -v whyio >/dev/null 2>&1 || fail "$build/whyio is not there: run 'make demo'"
if [ -x "$build/examples/checkpoint" ]; then
    suffix=''
    launcher="mpirun --oversubscribe"
    command -v mpirun.openmpi >/dev/null 2>&1 && launcher="mpirun.openmpi --oversubscribe"
    # As root, as in a container, and with more ranks than processors Open MPI wants to be asked.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
elif [ -x "$build/examples/checkpoint-mpich" ]; then
    suffix=-mpich
    launcher=mpiexec.mpich
else
    echo "demo: no MPI was found when whyio was built: install openmpi-bin, libopenmpi-dev" >&2
    exit 77
fi

programs=$build/examples

# Two places on different file systems: the disk and memory, whichever way round they come.
here=$(mktemp -d "${TMPDIR:-/tmp}/whyio-demo.XXXXXX")
there=$here
slow=''
server=''
clean_up() {
    if [ -n "$server" ]; then
        fusermount3 -u "$slow" 2>/dev/null || umount "$slow" 2>/dev/null || true
        wait "$server" || true
    fi
    rm -rf "$here" "$there"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
file_system() {
    stat -f -c %T "$1"
}
for candidate in /dev/shm "$build" /var/tmp "${HOME:-/}"; do
    if [ -w "$candidate" ] && [ "$(file_system "$candidate")" != "$(file_system "$here")" ]; then
        there=$(mktemp -d "$candidate/whyio-demo.XXXXXX")
        break
    fi
done
if [ "$there" = "$here" ]; then
    there=$(mktemp -d "$here/target.XXXXXX")
    echo "(no second file system here: the replay stays on the first)"
fi

bold='' plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
step() {
    printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}
# Show a command as a person would type it.
show() {
    printf '%s$ %s%s\n' "$bold" "$(echo "$*" | sed "s|$programs/\([a-z-]*\)$suffix|\1|g; s|$slow|slow|g")" "$plain"
}
# Show it, then run it.
try() {
    show "$@"
    "$@" || fail "this failed with exit status $?"
}

# The usual place is removed by jobs of ours that end while this one starts.
export OMPI_MCA_orte_tmpdir_base="$here"

mkdir "$here/data" "$there/replayed"
cd "$here"

step "A checkpoint on $(file_system .): $WIO_RANKS ranks write one file and read it back. Nobody changed the program"
# shellcheck disable=SC2086 # two words
try whyio record -o run.whyio -- $launcher -n $WIO_RANKS "$programs/checkpoint$suffix" -d data -n 16 -c 2

step "What did it do?"
try whyio info run.whyio

step "Exactly? The first writes of rank 2, and the lines of the program that they came from"
show "whyio dump --format=text --rank=2 --op=pwrite run.whyio | head -n 5"
whyio dump --format=text --rank=2 --op=pwrite run.whyio >"$here/dump" || fail "dump failed"
head -n 5 "$here/dump"

step "Is the trace sound?"
try whyio check run.whyio

step "The same I/O again on $(file_system "$there"), without the program and without its data"
try whyio replay run.whyio --root="$there/replayed" --compare

step "What the replay left there"
show "ls -l $there/replayed$here/data"
ls -l "$there/replayed$here/data"
for file in data/*; do
    wanted=$(stat -c %s "$file")
    found=$(stat -c %s "$there/replayed$here/$file")
    [ "$wanted" = "$found" ] || fail "$file: the program wrote $wanted bytes, the replay $found"
done
# A file system whose writes and flushes take 4 ms, as those of a busy server do; where FUSE is not
# allowed the disk.
mount_slow() {
    [ -x "$build/bench/slowfs" ] && [ -r /dev/fuse ] && [ -w /dev/fuse ] || return 0
    mkdir "$here/behind" "$here/slow"
    "$build/bench/slowfs" "$here/behind" 4000 "$here/slow" 2>/dev/null &
    server=$!
    slow=$here/slow
    tries=0
    until mountpoint -q "$slow"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
            wait "$server" || true
            server=''
            slow=''
            return 0
        fi
        sleep 0.05
    done
}
mount_slow
if [ -z "$slow" ]; then
    slow=$(mktemp -d "$build/whyio-demo.XXXXXX")
    there="$there $slow"
fi

step "Another program, on $(file_system "$slow"): each rank computes, writes a line of its log, and so on"
# shellcheck disable=SC2086
try whyio record -o slow.whyio -- $launcher -n $WIO_RANKS "$programs/steplog$suffix" -d "$slow" -n 400 -c 0.2

step "Why did it take as long as it did, and what would change it?"
show "whyio explain slow.whyio"
whyio explain slow.whyio >"$here/explained" || fail "explain failed"
cat "$here/explained"
[ -z "$server" ] || grep -q '^ 1 .*steplog.c:[0-9]*  flush_log' "$here/explained" ||
    fail "the first finding does not name flush_log of steplog.c"

step "Is that so? The same program with one flush for 16 lines"
# shellcheck disable=SC2086
try whyio record -o mended.whyio -- $launcher -n $WIO_RANKS "$programs/steplog-batched$suffix" -d "$slow" -n 400 -c 0.2
show "whyio compare slow.whyio mended.whyio | head -n 8"
whyio compare slow.whyio mended.whyio >"$here/compared" || fail "compare failed"
head -n 8 "$here/compared"
printf '\n%sThe demo is done.%s What next: README.md, and whyio COMMAND --help\n' "$bold" "$plain"
