# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
whyio explain --classic checkpoint >text
