# SPDX-License-Identifier: Apache-2.0
# Events were lost: no evidence. The dump has all but the waits.
make_trace killed killed
whyio edges killed || echo "exit status $?"
whyio dump --annotate killed > lines
wc -l < lines
