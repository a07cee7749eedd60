# SPDX-License-Identifier: Apache-2.0
echo '{"schema": "whyio.host/1", "bw_mem": 1}' >host.json
whyio predict --ops="$DATA/predict/ops.jsonl" --host=host.json
