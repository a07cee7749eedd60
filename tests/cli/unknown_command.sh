# SPDX-License-Identifier: Apache-2.0
# Letters swapped: says what was meant.
whyio evn
