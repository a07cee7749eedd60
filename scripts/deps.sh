#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages that a goal needs; those that are there already are not touched.
#
# usage: deps.sh build|demo|test|bench|bench-replay|bench-model|bench-admit|lint
#
# Exit 0: all are there. Packages that only widen a goal (wanted_...) are tried once, and their
# absence is no failure: the tests that need them skip.
# shellcheck disable=SC2086 # the lists are split into words on purpose
set -eu
cd "$(dirname "$0")/.."

build="gcc libc6-dev meson ninja-build pkg-config python3 libzstd-dev libxxhash-dev libjansson-dev
 libdw-dev libcmocka-dev libaio-dev liburing-dev libbsd-dev libsodium-dev libsqlite3-dev libuv1-dev
 libmunge-dev scdoc"
demo="openmpi-bin libopenmpi-dev"
test="$demo mpich libmpich-dev g++ clang clang-tidy cppcheck libclang-rt-14-dev fio strace valgrind sqlite3 rsync git
 tar man-db util-linux procps shellcheck codespell"
lint="clang clang-format clang-tidy cppcheck shellcheck codespell"
bench="$demo strace valgrind"
wanted_test="slurmctld slurmd slurm-client gfortran libc6-dev-i386 lib32gcc-12-dev libsimgrid-dev bubblewrap
 busybox-static faketime fuse3 libfuse3-dev libmicrohttpd-dev libhdf5-openmpi-dev libhdf5-mpich-dev sudo python3-yaml
 nbdkit libnbd-bin e2fsprogs iproute2"
wanted_replay="mpich libmpich-dev libfuse3-dev fuse3 e2fsprogs fio"
wanted_demo="fuse3 libfuse3-dev libmicrohttpd-dev"
wanted_build="libfuse3-dev libmicrohttpd-dev"
wanted_bench="lttng-tools liblttng-ust-dev libsimgrid-dev"
wanted_model="gnuplot-nox e2fsprogs fio libsimgrid-dev"

goal=${1:-}
case $goal in
build) needed=$build wanted=$wanted_build ;;
demo) needed="$build $demo" wanted=$wanted_demo ;;
test) needed="$build $test" wanted=$wanted_test ;;
bench) needed="$build $bench" wanted=$wanted_bench ;;
bench-replay) needed="$build $demo" wanted=$wanted_replay ;;
bench-model) needed="$build $demo" wanted=$wanted_model ;;
bench-admit) needed="$build" wanted="valgrind gnuplot-nox" ;;
lint) needed="$build $lint" wanted="" ;;
*)
    echo "usage: deps.sh build|demo|test|bench|bench-replay|bench-model|bench-admit|lint" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "deps: not a Debian system: please have the equivalents of" $needed >&2
    exit 0
fi

# Those of its arguments that are not installed.
missing() {
    for package in "$@"; do
        # shellcheck disable=SC2016 # dpkg's format, not a variable of the shell
        state=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null || true)
        case " $state" in *" installed "*) ;; *) printf '%s ' "$package" ;; esac
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# What it says is shown only where it fails.
apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
        -o Acquire::Retries=3 "$@" </dev/null >"$log" 2>&1
}

to_install=$(missing $needed)
extra=$(missing $wanted)
tried=build/.packages-not-to-be-had
if [ -n "$extra" ] && grep -qxF "$extra" "$tried" 2>/dev/null; then
    extra="" # not to be had the last time
fi
[ -n "$to_install$extra" ] || exit 0

if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
    [ -n "$to_install" ] || exit 0
    echo "deps: neither root nor sudo; please have these installed:" $to_install >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "deps: installing $to_install$extra"
apt update || echo "deps: apt-get update failed, going on with the lists that are there" >&2
if [ -n "$to_install" ] && ! apt --no-install-recommends install $to_install; then
    cat "$log" >&2
    echo "deps: cannot install $to_install" >&2
    exit 1
fi
if [ -n "$extra" ] && ! apt --no-install-recommends install $extra; then
    mkdir -p "$(dirname "$tried")"
    echo "$extra" >>"$tried"
    echo "deps: not to be had here, what needs them is skipped: $extra" >&2
fi
