# SPDX-License-Identifier: Apache-2.0
# One flipped byte in a table, then one in the rows: named by file and offset.
make_trace waits waits
whyio edges waits > lines
cp -r waits rows
printf "\377" | dd of=rows/trace.edges bs=1 seek=110 conv=notrunc status=none
size=$(wc -c < waits/trace.edges)
printf "\377" | dd of=waits/trace.edges bs=1 seek=$((size - 40)) conv=notrunc status=none
for command in edges info dump check; do
    whyio "$command" waits > lines || echo "$command: exit status $?"
done
whyio check rows || echo "exit status $?"
whyio edges rows > lines || echo "edges: exit status $?"
