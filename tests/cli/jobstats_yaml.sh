# SPDX-License-Identifier: Apache-2.0
make_trace jobs jobs
whyio jobstats jobs | cut -c 1-200
