# SPDX-License-Identifier: Apache-2.0
make_trace odd odd
whyio explain --all odd
