# SPDX-License-Identifier: Apache-2.0
# The same I/O in another way.
make_trace checkpoint checkpoint
make_trace slow slow
host=$DATA/predict/host.json
sed 's/"c_lib"/"net_bw": 1e9, "net_lat": 1e-6, "c_lib"/' "$host" >net.json
row() { grep -E '^(operations|written|read|I/O|total)' | tr -s ' ' | tr '\n' '\t'; echo; }
whyio predict slow --host="$host" | row
whyio predict slow --host="$host" --fsync-every=4 | row
whyio predict slow --host="$host" --aggregate=256K | row
whyio predict slow --host="$host" --fsync-every=4 --aggregate=256K | row
whyio predict slow --host="$host" --aggregate=256K --fsync-every=4 | row
whyio predict slow --host="$host" --merge-files | grep recorded
whyio predict slow --host="$host" --balance | row
whyio predict slow --host="$host" --fsync-every=4 --sort=256K | row
whyio predict slow --host="$host" --fsync-every=4 --merge-files=256K | row
whyio predict slow --host="$host" --no-polling | row
whyio predict checkpoint --host=net.json --collective=on | row
whyio predict checkpoint --host="$host" --collective=off | row
whyio predict checkpoint --host="$host" --collective=on || echo "exit $?"
whyio predict checkpoint --host="$host" --aggregate=256K -o out || echo "exit $?"
whyio predict --ops="$DATA/predict/ops.jsonl" --host="$host" --balance || echo "exit $?"
whyio predict slow --host="$host" --sort=0 || echo "exit $?"
