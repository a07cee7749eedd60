# SPDX-License-Identifier: Apache-2.0
# What got slower, where and why: a finding that only the second run has, and back.
make_trace checkpoint before
make_trace storm after
whyio compare before after | sed -n '1,/^$/p;/why/,/^$/p'
whyio compare after before --format=json | grep -o '"kind": "sync_storm", "change": "[a-z]*", "a_s": [0-9.]*, "b_s": [0-9.]*'
whyio compare before before | grep cause
