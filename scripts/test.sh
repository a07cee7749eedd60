#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All tests: the normal build with every suite; the unit tests and the fuzz corpora again with
# AddressSanitizer and UBSan; the tests of what several threads run with ThreadSanitizer; a few
# seconds of the real fuzzer for each parser; clang-tidy and cppcheck over files that have changed. All
# run even if one fails.
#
# usage: test.sh        exit 0 only if all passed
set -u
cd "$(dirname "$0")/.." || exit 1
failed=""
prefix=""
timeouts=""
for directory in build build-asan build-tsan build-fuzz; do
    rm -f "$directory/meson-logs/testlog.json" # .ci/run adds up what is there at the end
done

# build directory, suites: only the programs that these suites need are built.
test_suites() {
    directory=$1
    shift
    suites=""
    for suite in "$@"; do
        suites="$suites --suite $suite"
    done
    # Build files may have changed since: what is asked next must know of new tests.
    ninja -C "$directory" build.ninja >/dev/null
    targets=$(sh scripts/meson.sh introspect --tests --targets "$directory" |
        python3 scripts/suite_targets.py "$directory" "$@")
    if [ -z "$targets" ]; then
        echo "$directory: no tests in $*"
        return
    fi
    # shellcheck disable=SC2086 # several words on purpose, here and below
    if ! sh scripts/build.sh "$directory" $targets; then
        failed="$failed $directory"
        return
    fi
    # shellcheck disable=SC2086
    $prefix sh scripts/meson.sh test -C "$directory" --no-rebuild --print-errorlogs $timeouts $suites ||
        failed="$failed $directory"
}

# build directory, compiler, options in one word, suites
test_variant() {
    directory=$1 compiler=$2 options=$3
    shift 3
    echo "== $directory: $*"
    # shellcheck disable=SC2086
    if CC=$compiler sh scripts/configure.sh "$directory" $options; then
        test_suites "$directory" "$@"
    else
        failed="$failed $directory"
    fi
}

echo "== build: all suites"
# Warnings are errors in CI only: elsewhere another compiler may know more of them.
if sh scripts/configure.sh build ${CI:+--werror} && sh scripts/build.sh build; then
    sh scripts/meson.sh test -C build --no-rebuild --print-errorlogs || failed="$failed build"
else
    failed="$failed build"
fi

export ASAN_OPTIONS=halt_on_error=1:abort_on_error=1:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
# A process under a sanitizer is slower by what the machine makes of it: a time limit finds hangs there.
timeouts="--timeout-multiplier 4"
common="-Db_lundef=false -Doptimization=1"
test_variant build-asan gcc "-Db_sanitize=address,undefined $common" unit fuzz
# ThreadSanitizer of gcc 12 does not start where the kernel randomises addresses by more than 28 bits.
! setarch -R true 2>/dev/null || prefix="setarch -R"
test_variant build-tsan gcc "-Db_sanitize=thread $common" tsan
prefix=""
if command -v clang >/dev/null 2>&1; then
    test_variant build-fuzz clang "-Dfuzzer=true -Db_sanitize=address,undefined $common" smoke
else
    echo "skipped: no clang here, the fuzzer does not run" >&2
fi

echo "== lint: files that have changed"
sh scripts/lint.sh --changed || failed="$failed lint"

if [ -n "$failed" ]; then
    echo "FAILED in:$failed" >&2
    exit 1
fi
