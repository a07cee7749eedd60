# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio info --histograms --top=1 checkpoint
