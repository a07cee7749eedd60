# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio explain --all --format=json checkpoint
