# SPDX-License-Identifier: Apache-2.0
make_trace odd odd
whyio compare --format=json odd odd
