# SPDX-License-Identifier: Apache-2.0
# One victim is gone in b, and so is what another one waited for.
mkdir a b && txn_trace a/a.seg <"$DATA/transactions/conflicts.script"
grep -v ' [BD]1 ' "$DATA/transactions/conflicts.script" | txn_trace b/a.seg
whyio compare --format=json a b
