# SPDX-License-Identifier: Apache-2.0
make_trace storm storm
echo '{"bw_mem": 8e9}' >incomplete.json
whyio explain storm --host=nowhere.json || echo "exit $?"
whyio explain storm --host=incomplete.json --gains=0 >explained || echo "exit $?"
whyio explain storm --host=incomplete.json
