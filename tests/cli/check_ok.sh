# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
make_trace odd odd
whyio check checkpoint && whyio check --format=json odd
