# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --format=text --from=50ms --to=52 --op=pread checkpoint
whyio dump --from=0.4 checkpoint
