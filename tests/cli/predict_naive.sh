# SPDX-License-Identifier: Apache-2.0
whyio predict --ops=- --host="$DATA/predict/host.json" --per-op --format=json --model=naive <"$DATA/predict/ops.jsonl"
