#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that reads the code without running it. All parts run even if one finds something.
#
# usage: lint.sh [FILE.c ...]      without files: the whole tree
#        lint.sh --changed         clang-tidy and cppcheck, over files whose preprocessed text is another
#                                  one than in the commit WHYIO_LINT_BASE; by default where this branch
#                                  left main, on main 20 commits ago. 40 files at most.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=""
most=40

skip() {
    echo "skipped: $1" >&2
    exit 0
}

base_commit() {
    if [ -n "${WHYIO_LINT_BASE:-}" ]; then
        git rev-parse --verify --quiet "$WHYIO_LINT_BASE^{commit}"
        return
    fi
    for ref in origin/main main; do
        base=$(git merge-base HEAD "$ref" 2>/dev/null) || continue
        if [ "$base" != "$(git rev-parse HEAD)" ]; then
            echo "$base"
            return
        fi
    done
    git rev-parse --verify --quiet "HEAD~20^{commit}"
}

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

tidy_and_cppcheck() {
    # shellcheck disable=SC2086
    part clang-tidy python3 scripts/tidy.py build-lint $programs
    # The loops of its lists set their variables, and the names of its heads may be empty.
    queue=$(echo '#include <sys/queue.h>' | clang -M -x c - | tr ' ' '\n' | grep 'sys/queue.h' | head -n 1)
    mkdir -p build-lint/cppcheck # remembers what it found in files that have not changed
    # shellcheck disable=SC2086
    part cppcheck cppcheck --quiet --cppcheck-build-dir=build-lint/cppcheck --std=c11 --language=c \
        --enable=warning,performance,portability --inline-suppr --suppress=normalCheckLevelMaxBranches --suppress=unknownMacro \
        --error-exitcode=1 -j "$(nproc)" -D__x86_64__ -D_GNU_SOURCE --include="$queue" \
        -Iinclude -Isrc -Ibuild-lint/src $programs
}

finish() {
    if [ -n "$failed" ]; then
        echo "FAILED:$failed" >&2
        exit 1
    fi
    exit 0
}

if [ "${1:-}" = --changed ]; then
    for program in clang clang-tidy cppcheck git; do
        command -v "$program" >/dev/null 2>&1 || skip "no $program here, changed files are not read by clang-tidy and cppcheck"
    done
    base=$(base_commit) || skip "no commit to compare with: \`make lint\` reads all files"
    CC=clang sh scripts/configure.sh build-lint --werror || exit 1
    # shellcheck disable=SC2046
    changed=$(python3 scripts/changed.py build-lint "$base" $(git ls-files 'src/*.c' 'plugins/*.c' 'tools/*.c')) || exit 1
    count=$(echo "$changed" | grep -c .)
    programs=$(echo "$changed" | head -n "$most")
    echo "$count files changed since $base"
    [ "$count" -le "$most" ] || echo "skipped: $((count - most)) of them, \`make lint\` reads all files"
    [ "$count" -eq 0 ] || tidy_and_cppcheck
    finish
fi

# shellcheck disable=SC2086
part clang-format clang-format --dry-run -Werror $sources

# gcc's own warning options confuse clang-tidy: a clang build directory gives it the commands.
CC=clang sh scripts/configure.sh build-lint --werror || exit 1
part "clang without warnings" ninja -C build-lint --quiet -k0
tidy_and_cppcheck

for check in arrows house requirements words documents people tags; do
    part "$check" python3 "tests/lint/$check.py" "$PWD"
done

finish
