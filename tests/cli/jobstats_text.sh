# SPDX-License-Identifier: Apache-2.0
make_trace jobs jobs
make_trace checkpoint checkpoint
whyio jobstats --format=text jobs checkpoint | cut -c 1-90
