# SPDX-License-Identifier: Apache-2.0
# No table without rows.
make_trace empty empty
whyio edges --format=text empty
