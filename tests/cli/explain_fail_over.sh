# SPDX-License-Identifier: Apache-2.0
# the finding that decides is shown, however small its share
make_trace checkpoint checkpoint
printf 'many_opens 1\ndominant 0\n' > mine
whyio explain --thresholds=mine --fail-over=0.05 checkpoint
