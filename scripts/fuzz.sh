#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzz every parser for a while. A crash is kept below build-fuzz/crashes: make it a file of
# tests/data/corpus/<parser>/ together with the fix.
#
# usage: fuzz.sh [SECONDS per parser, default 60]
set -eu
cd "$(dirname "$0")/.."
CC=clang sh scripts/configure.sh build-fuzz -Dfuzzer=true -Db_sanitize=address,undefined \
    -Db_lundef=false -Doptimization=1
# Build files may have changed since: what is asked next must know of new tests.
ninja -C build-fuzz build.ninja >/dev/null
targets=$(sh scripts/meson.sh introspect --tests --targets build-fuzz |
    python3 scripts/suite_targets.py build-fuzz smoke)
# shellcheck disable=SC2086 # several targets
ninja -C build-fuzz $targets
WHYIO_FUZZ_SECONDS=${1:-60} sh scripts/meson.sh test -C build-fuzz --no-rebuild --suite smoke \
    --timeout-multiplier 100 --print-errorlogs
