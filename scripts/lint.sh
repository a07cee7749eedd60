#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that reads the code without running it. All parts run even if one finds something.
#
# usage: lint.sh [FILE.c ...]      without files: the whole tree
set -u
cd "$(dirname "$0")/.." || exit 1
failed=""

sources=$(git ls-files 'src/*.c' 'tools/*.c' 'include/*.h' 'src/*.h' 'tools/*.h' 'examples/*.[ch]' \
    'plugins/*.[ch]' 'tests/*.[ch]' 'bench/*.c')
# shellcheck disable=SC2086 # file names without blanks, here and below
programs=${*:-$(git ls-files 'src/*.c' 'plugins/*.c' 'tools/*.c')}

part() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}

# shellcheck disable=SC2086
part clang-format clang-format --dry-run -Werror $sources

# gcc's own warning options confuse clang-tidy: a clang build directory gives it the commands.
CC=clang sh scripts/configure.sh build-lint --werror || exit 1
part "clang without warnings" ninja -C build-lint --quiet -k0
# shellcheck disable=SC2086
part clang-tidy python3 scripts/tidy.py build-lint $programs

mkdir -p build-lint/cppcheck # remembers what it found in files that have not changed
# shellcheck disable=SC2086
part cppcheck cppcheck --quiet --cppcheck-build-dir=build-lint/cppcheck --std=c11 --language=c \
    --enable=warning,performance,portability --inline-suppr --suppress=normalCheckLevelMaxBranches --suppress=unknownMacro \
    --error-exitcode=1 -j "$(nproc)" -D__x86_64__ -D_GNU_SOURCE -Iinclude -Isrc -Ibuild-lint/src $programs

for check in arrows house requirements words; do
    part "$check" python3 "tests/lint/$check.py" "$PWD"
done

if [ -n "$failed" ]; then
    echo "FAILED:$failed" >&2
    exit 1
fi
