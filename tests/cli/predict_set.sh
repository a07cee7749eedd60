# SPDX-License-Identifier: Apache-2.0
# A row for each value.
make_trace checkpoint checkpoint
host=$DATA/predict/host.json
whyio predict checkpoint --host="$host" --set=bw_dev=50M,1e8,1G
whyio predict checkpoint --host="$host" --set=bw_dev=1e8,1G --format=json | grep -oE '"(set|total_s)": [^,]*(, "value": [0-9.e+]*)?'
whyio predict --ops="$DATA/predict/ops.jsonl" --host="$host" --set=bf=4K,1M
whyio predict checkpoint --host="$host" --set=meta.open=0,1 | tail -2
whyio predict checkpoint --host="$host" --set=bw_div=1 || echo "exit $?"
whyio predict checkpoint --host="$host" --set=bw_dev=-1 || echo "exit $?"
whyio predict checkpoint --host="$host" --set=bw_dev=fast || echo "exit $?"
