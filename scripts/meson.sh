#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian's own Meson where there is one: a python3 of the user in front of PATH may not have its
# modules, so that `meson` alone does not start.
#
# usage: meson.sh ARGUMENT...
meson=meson
[ ! -x /usr/bin/meson ] || meson=/usr/bin/meson
exec $meson "$@"
