# SPDX-License-Identifier: Apache-2.0
make_trace jobs jobs
whyio jobstats --format=json --top=3 jobs
