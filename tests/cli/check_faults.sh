# SPDX-License-Identifier: Apache-2.0
# Two damaged blocks: both are named, as text and as JSON; the other commands name the first that
# they read.
make_trace checkpoint checkpoint
printf '\377\377' | dd of=checkpoint/node1.seg bs=1 seek=120 conv=notrunc status=none
printf '\377\377' | dd of=checkpoint/node1.seg bs=1 seek=900 conv=notrunc status=none
whyio check checkpoint || echo "exit status $?"
whyio check --format=json checkpoint || echo "exit status $?"
whyio dump checkpoint > lines || echo "dump: exit status $?"
