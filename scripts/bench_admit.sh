#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Admission under overload, all policies side by side, in virtual time; what a decision costs.
#
# usage: bench_admit.sh BUILDDIR [--quick]     pictures go to BUILDDIR/admit-*.svg where gnuplot is
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
data=$build/admit.dat
"$build/bench/admit_bench" --data="$data" "$@"
echo
echo "### Nanoseconds"
echo
"$build/bench/admit_micro"
echo
echo "### Instructions"
echo
python3 bench/admit_micro.py "$build/bench/admit_micro" || [ $? -eq 77 ]
if command -v gnuplot >/dev/null 2>&1; then
    gnuplot -e "data='$data'; build='$build'" bench/admit.gnuplot
    echo
    echo "pictures: $build/admit-goodput.svg $build/admit-latency.svg $build/admit-queue.svg"
fi
