# SPDX-License-Identifier: Apache-2.0
# Few bytes of trace or list that stand for more than can be simulated: the operation and the bound.
make_trace checkpoint checkpoint
host=$DATA/predict/host.json
whyio predict checkpoint --host="$host" --scale-ranks=999998 || echo "exit $?"
whyio predict checkpoint --host="$host" --max-memory=4K || echo "exit $?"
whyio predict checkpoint --host="$host" --max-steps=7 || echo "exit $?"
printf '{"file": "a", "offset": 0, "size": 1}\n{"file": "a", "offset": 0, "size": 1099511627776}\n' |
    whyio predict --ops=- --host="$host" --max-memory=1M || echo "exit $?"
