#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make a build directory: once, and again where optional packages have come or gone since.
#
# usage: configure.sh BUILDDIR [MESON OPTION...]     environment: CC for a new directory
set -eu
cd "$(dirname "$0")/.."
build=$1
shift

# What the configuration depends on beyond the build files.
found=$(ls -d /usr/bin/mpicc.openmpi /usr/bin/mpicc.mpich /usr/bin/scdoc /usr/bin/clang \
    /usr/bin/gfortran /usr/include/lttng /usr/include/simgrid /usr/include/fuse3 2>/dev/null || true)
stamp=$build/.found-at-setup
[ ! -f "$build/build.ninja" ] || [ "$found" != "$(cat "$stamp" 2>/dev/null || true)" ] || exit 0

mkdir -p "$build"
log=$build/setup.log
if [ -f "$build/build.ninja" ]; then
    set -- --wipe "$@"
fi
sh scripts/meson.sh setup "$@" "$build" >"$build.log" 2>&1 || {
    cat "$build.log" >&2
    exit 1
}
mv "$build.log" "$log"
echo "$found" >"$stamp"
