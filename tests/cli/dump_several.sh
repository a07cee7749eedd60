# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --format=text --op=open --op=close --rank=0 --rank=1 --path=missing.conf \
    --path='*.dat' checkpoint
