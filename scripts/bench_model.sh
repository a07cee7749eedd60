#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The write models beside measurements; pictures go to docs/ if ARGS says --pictures=docs.
#
# usage: bench_model.sh BUILDDIR [OPTION of bench/model_suite.py...]     exit 1: a target is missed
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
export WHYIO="$build/whyio" WHYIO_BENCH="$build/bench" WHYIO_EXAMPLES="$build/examples"
export PYTHONDONTWRITEBYTECODE=1
exec python3 bench/model_suite.py "$@"
