# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
host=$DATA/predict/host.json
sed 's/"dirty_expire"/"devices": [{"path": "\/scratch", "limit_bg": 1}], "dirty_expire"/' "$host" >device.json
sed 's/"dirty_expire"/"meta": {"open": -1}, "dirty_expire"/' "$host" >meta.json
for given in node2=x.json node1=device.json meta.json node1=; do
    whyio predict checkpoint --host="$given" >out 2>err || echo "$?: $(head -1 err)"
done
whyio predict checkpoint --host="$host" --host=node2="$host" >out 2>err || echo "$?: $(head -1 err)"
whyio predict --ops="$DATA/predict/ops.jsonl" --host=a=b
