# SPDX-License-Identifier: Apache-2.0
# record --max-size --keep=last: what was kept, and which processes lost how much.
make_trace bounded bounded
whyio info bounded && whyio info --index --format=json bounded
