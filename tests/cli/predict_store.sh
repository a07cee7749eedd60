# SPDX-License-Identifier: Apache-2.0
# Files of a store: requests wait for its targets, and are given up where that takes too long.
make_trace checkpoint checkpoint
store() { sed 's|"c_lib": 5e-8}|"c_lib": 5e-8, "store": {"targets": 1, "op_s": 5e-3, "bw": 1e9, "net_s": 2e-5, "stripe_unit": 65536'"$1"'}}|' \
    "$DATA/predict/host.json" > store.json; }
store ''
whyio predict checkpoint --host=store.json
whyio predict checkpoint --host=store.json --format=json --store-policy=fifo | grep -oE '"store": ?\{[^}]*\}'
whyio predict checkpoint --host=store.json --set=store.targets=1,2
whyio predict checkpoint --host=store.json --set=store.targets=0 || echo "exit $?"
whyio predict --ops="$DATA/predict/ops.jsonl" --host=store.json 2>&1 | sed "s|.*: line|line|" || echo "exit $?"
whyio predict checkpoint --host=store.json --store-policy=best || echo "exit $?"
store ', "timeout_s": 0.006'
whyio predict checkpoint --host=store.json --store-policy=hint | grep -E '^(store|total)'
