# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --format=text --errors checkpoint
whyio dump --format=text --min-time=1ms checkpoint
whyio dump --format=text --pid=1001 --op=open,close checkpoint
whyio dump --pid=7 checkpoint
