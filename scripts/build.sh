#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configure where needed, build, and leave the command at BUILDDIR/whyio.
#
# usage: build.sh BUILDDIR [TARGET...]
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
sh scripts/configure.sh "$build"
ninja -C "$build" "$@"
if [ -x "$build/tools/whyio/whyio" ]; then
    ln -sfn tools/whyio/whyio "$build/whyio"
fi
