# SPDX-License-Identifier: Apache-2.0
# A cause that is new is too much, one that is gone is not; allowed is a part of the first run.
make_trace checkpoint before
make_trace storm after
whyio compare --fail-over=5 before after >/dev/null || echo "status $?"
whyio compare --fail-over=5 after before >/dev/null && echo gone
whyio compare --fail-over=1000 before after >/dev/null && echo allowed
whyio compare --fail-over=0 before before >/dev/null && echo same
whyio compare --fail-over=x before after 2>&1 | sed -n 1p
