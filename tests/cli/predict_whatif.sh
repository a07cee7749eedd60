# SPDX-License-Identifier: Apache-2.0
whyio predict --ops="$DATA/predict/ops.jsonl" --host="$DATA/predict/host.json" --per-op --sync=on --direct=off --limit-bg=1M --limit-hard=64M --bf=64K --bs=512
