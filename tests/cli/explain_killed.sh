# SPDX-License-Identifier: Apache-2.0
make_trace killed killed
whyio explain killed
