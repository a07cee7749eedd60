# SPDX-License-Identifier: Apache-2.0
printf '{"file": "a", "offset": 0, "size": 1}\n{"file": "a", "offset": 0, "size": 1099511627777}\n' |
    whyio predict --ops=- --host="$DATA/predict/host.json"
