#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Edges beside the truth, then replays beside the programs themselves.
#
# usage: bench_replay.sh BUILDDIR [OPTION of bench/replay_suite.py...]     exit 1: a target is missed
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
full=--full
for option in "$@"; do
    [ "$option" != --quick ] || full=""
done
export WHYIO="$build/whyio" WHYIO_BENCH="$build/bench" WHYIO_EXAMPLES="$build/examples"
export PYTHONDONTWRITEBYTECODE=1
status=0
# shellcheck disable=SC2086 # empty or one word
python3 tests/truth/suite.py $full "$build/tests/truth" || status=1
python3 bench/replay_suite.py "$@" || status=1
exit $status
