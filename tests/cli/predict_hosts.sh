# SPDX-License-Identifier: Apache-2.0
# Machines by the name of the recorded host, of several devices, with the costs of metadata.
make_trace checkpoint checkpoint
sed 's/"dirty_expire"/"meta": {"create": 1e-3, "close": 2e-4, "bogus": 1}, "devices": [{"path": "\/home", "bw_rdev": 1e9}], "dirty_expire"/' "$DATA/predict/host.json" >named.json
whyio predict checkpoint --host=node1=named.json
whyio predict checkpoint --host=node1=named.json --model=naive --format=json
whyio predict --ops="$DATA/predict/ops.jsonl" --host=./named.json --format=json
whyio predict checkpoint --host=node1=named.json -o predicted --format=json >first
whyio check predicted
