# SPDX-License-Identifier: Apache-2.0
whyio predict --ops="$DATA/predict/ops.jsonl" --host="$DATA/predict/host.json" --per-op
