# SPDX-License-Identifier: Apache-2.0
# Programs that share a machine: their ranks are numbered on, the file of both is one.
make_trace checkpoint checkpoint
make_trace long long 1000
host=$DATA/predict/host.json
whyio predict checkpoint --host="$host" | grep ^total
whyio predict long --host="$host" | grep ^total
whyio predict checkpoint long checkpoint --host="$host" | tail -12
whyio predict checkpoint long --host="$host" -o out || echo "exit $?"
