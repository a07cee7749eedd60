# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --format=csv checkpoint | head -n 4
make_trace odd odd
whyio dump --format=csv --fields=op,path,dur_ns,flags,stack,caused,args odd
