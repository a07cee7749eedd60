# SPDX-License-Identifier: Apache-2.0
# Figures of a part of the run are told to be that.
make_trace bounded bounded
whyio explain bounded
