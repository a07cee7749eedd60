# SPDX-License-Identifier: Apache-2.0
make_trace empty empty
whyio explain empty
