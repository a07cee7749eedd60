# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio dump --format=text --sort=duration --rank=1 checkpoint
