# SPDX-License-Identifier: Apache-2.0
printf '{"file": "a", "offset": 0, "size": 1}\n{"file": "a", "offset": 0, "size": -1}\n' >ops.jsonl
whyio predict --ops=ops.jsonl --host="$DATA/predict/host.json"
