# SPDX-License-Identifier: Apache-2.0
make_trace waits waits
whyio edges --raw --format=text waits
whyio edges --format=text --top=1 waits | tail -n 4
