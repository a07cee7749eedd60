# SPDX-License-Identifier: Apache-2.0
make_trace jobs jobs
whyio jobstats --top=2 --format=text jobs | cut -c 1-90
whyio jobstats --top=0 --format=text jobs | wc -l
