# SPDX-License-Identifier: Apache-2.0
# Edges are counted where they are stored: not before, and afterwards by what told them.
make_trace waits waits
whyio info --format=json waits | tr "," "\n" | grep -A 9 edges
whyio edges -q waits > lines
whyio info --format=json waits | tr "," "\n" | grep -A 9 edges
whyio info waits | grep "between threads"
