# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio jobstats --all-operations checkpoint
