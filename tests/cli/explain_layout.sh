# SPDX-License-Identifier: Apache-2.0
# The stripe layout of a file on Lustre, as it was recorded.
make_trace storm storm lustre
whyio info storm | grep Lustre
whyio info --format=json storm | grep -o '"layouts": \[[^]]*\]'
whyio explain --gains=0 storm | grep layout
whyio explain --gains=0 --format=json storm | grep -o '"layout": "[^"]*"' | sort -u
make_trace storm local
whyio info local | sed -n /Lustre/p
whyio explain --gains=0 local | sed -n /layout/p
