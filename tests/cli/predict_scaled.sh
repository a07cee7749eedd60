# SPDX-License-Identifier: Apache-2.0
# Twice the ranks: files of their own, one barrier; and a what-if's trace is one.
make_trace checkpoint checkpoint
host=$DATA/predict/host.json
whyio predict checkpoint --host="$host" --scale-ranks=4 | tail -5
whyio predict checkpoint --host="$host" --sync=on --limit-hard=64M -o slower -q >out
whyio check slower
whyio info slower --format=json | grep -o '"complete": [a-z]*'
whyio compare checkpoint slower | head -4
