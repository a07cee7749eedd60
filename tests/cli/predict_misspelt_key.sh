# SPDX-License-Identifier: Apache-2.0
printf '%s\n' '{"file": "a", "offset": 0, "size": 4096, "description": "delays", "rank": 0}' \
    '{"file": "a", "offset": 0, "size": 4096, "delay\u000a": 5, "x": 1}' \
    '{"file": "a", "offset": 0, "size": 4096, "M_ethod": "sync"}' >ops.jsonl
whyio predict --ops=ops.jsonl --host="$DATA/predict/host.json"
whyio predict -q --ops=ops.jsonl --host="$DATA/predict/host.json" >/dev/null
sed 's/"c_lib"/"c_lbi"/' "$DATA/predict/host.json" >host.json
head -1 ops.jsonl | whyio predict --ops=- --host=host.json >/dev/null
