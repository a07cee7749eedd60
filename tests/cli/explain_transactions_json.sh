# SPDX-License-Identifier: Apache-2.0
mkdir run && txn_trace run/a.seg <"$DATA/transactions/conflicts.script"
whyio explain --format=json run
