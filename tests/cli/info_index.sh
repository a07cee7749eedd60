# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio info --index checkpoint
whyio info --index --format=json checkpoint
