# SPDX-License-Identifier: Apache-2.0
make_trace jobs jobs
whyio jobstats --format=prometheus --top=3 jobs
make_trace odd odd
whyio jobstats --format=prometheus odd
