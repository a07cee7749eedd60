# SPDX-License-Identifier: Apache-2.0
# Which phases of the run a machine with little memory for dirty pages would throttle.
make_trace checkpoint checkpoint
sed 's/"limit_bg": [0-9.e+]*/"limit_bg": 131072/; s/"limit_hard": [0-9.e+]*/"limit_hard": 262144/' \
    "$DATA/predict/host.json" >small.json
whyio explain checkpoint --host=small.json | sed -n '/^Page cache/,/^$/p'
whyio explain checkpoint --host=small.json --format=json | grep -o '"page_cache": .*"findings"' |
    grep -o '"state": "[a-z]*"' | uniq
whyio explain checkpoint --format=json | grep -o '"page_cache": [^,]*'
