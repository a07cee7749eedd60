# SPDX-License-Identifier: Apache-2.0
# Findings about transactions count: one costs 22 % of the run.
mkdir run && txn_trace run/a.seg <"$DATA/transactions/conflicts.script"
whyio explain --fail-over=25 run >/dev/null
whyio explain --fail-over=20 run | head -n 3
whyio explain --fail-over=20 run >/dev/null
