# SPDX-License-Identifier: Apache-2.0
# A description of a machine that doubts its own figures.
doubt='"trusted": false, "doubts": ["bw_dev scatters by 93 %", "sync_table scatters by 60 %"], "c_lib"'
sed "s/\"c_lib\"/$doubt/" "$DATA/predict/host.json" >host.json
whyio predict --ops="$DATA/predict/ops.jsonl" --host=host.json | grep total
whyio predict -q --ops="$DATA/predict/ops.jsonl" --host=host.json --format=json | grep -o '"trusted": [a-z]*'
sed 's/"c_lib"/"trusted": true, "c_lib"/' "$DATA/predict/host.json" >idle.json
whyio predict --ops="$DATA/predict/ops.jsonl" --host=idle.json --format=json | grep -o '"trusted": [a-z]*'
sed 's/"c_lib"/"trusted": 1, "c_lib"/' "$DATA/predict/host.json" >wrong.json
whyio predict --ops="$DATA/predict/ops.jsonl" --host=wrong.json || echo "exit $?"
