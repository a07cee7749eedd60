# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio predict checkpoint --host="$DATA/predict/host.json" --per-op
whyio predict checkpoint --host="$DATA/predict/host.json" --format=json -o predicted
whyio info predicted | head -3
