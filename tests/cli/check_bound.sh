# SPDX-License-Identifier: Apache-2.0
# What was dropped is no fault, and is told.
make_trace bounded bounded
make_trace killed killed
whyio check bounded && whyio check --format=json bounded && whyio check killed
