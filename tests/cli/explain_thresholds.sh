# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
echo "small_reqest 5" > mine
whyio explain --thresholds=mine checkpoint
