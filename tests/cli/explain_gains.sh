# SPDX-License-Identifier: Apache-2.0
# A gain is the difference of two predictions, as part of the recorded run. On lustre it is fitted.
make_trace storm storm
make_trace storm shared lustre
cp "$DATA/predict/host.json" host.json
whyio explain storm --host=host.json
whyio explain storm --host=host.json --format=json >explained.json
grep -o '"gain_basis": "[a-z]*"' explained.json | head -1
whyio predict storm --host=host.json --format=json >before.json
whyio predict storm --host=host.json --fsync-every=16 --format=json >after.json
whyio predict storm --host=host.json --fsync-every=16 --aggregate=1M --format=json >both.json
python3 - <<'PYTHON'
import json

explained, before, after, both = (json.load(open(name + ".json"))
                                  for name in ("explained", "before", "after", "both"))
syncs, writes = (finding["change"] for finding in explained["findings"])
scale = before["traced_s"] / before["total_s"]
assert explained["predicted_s"] == before["total_s"]
assert syncs["predicted_s"] == after["total_s"]
assert syncs["gain_s"] > 0.1
assert abs(syncs["gain_s"] - (before["total_s"] - after["total_s"]) * scale) < 1e-9
assert abs(writes["gain_with_s"] - (after["total_s"] - both["total_s"]) * scale) < 1e-9
PYTHON
whyio explain shared --host=host.json | grep change:
whyio explain shared --host=host.json --format=json | grep -o '"gain_[a-z_]*": [^,]*'
whyio explain storm --host=host.json --gains=1 | grep change:
whyio explain storm --host=host.json --gains=0 --format=json | grep -o '"gain_basis": "[a-z]*"' | head -1
whyio explain storm --gains=0 | tail -1
# without a machine: fitted from the trace
whyio explain storm | grep -e change: -e gains:
whyio explain storm --format=json | grep -o '"gain_[a-z_]*": [^,]*'
