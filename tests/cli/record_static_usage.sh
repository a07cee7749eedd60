# SPDX-License-Identifier: Apache-2.0
# What --static may be, and what it cannot be combined with: nothing is run, nothing is left behind.
for option in --static=maybe "--static=trace --causal=throttle" "--static=trace --max-size=1M"; do
    # shellcheck disable=SC2086
    whyio record $option -o t true && exit 1 || echo "status $?" >&2
done
ls
