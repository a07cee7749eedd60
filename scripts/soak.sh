#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The simulation of the store for as long as one likes: new seeds on memory and on disks that fail, side by side, and
# the table of the states of transactions in which faults happened. A failing seed prints the command that repeats it.
#
# usage: soak.sh BUILDDIR [SECONDS]     default: an hour
set -eu
cd "$(dirname "$0")/.."
build=$1
seconds=${2:-3600}
seed=$(date +%s)
failed=0

ninja -C "$build" tests/sim/store_transactions_sim tests/sim/store_transactions_disk_sim >/dev/null
"$build/tests/sim/store_transactions_sim" --seed="$seed" --seconds="$seconds" --table >"$build/soak.memory.txt" 2>&1 &
memory=$!
"$build/tests/sim/store_transactions_disk_sim" --seed="$seed" --seconds="$seconds" --table >"$build/soak.disk.txt" 2>&1 &
disk=$!
trap 'kill $memory $disk 2>/dev/null || true' INT TERM
wait $memory || failed=1
wait $disk || failed=1
cat "$build/soak.memory.txt" "$build/soak.disk.txt"
exit $failed
