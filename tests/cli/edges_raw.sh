# SPDX-License-Identifier: Apache-2.0
make_trace waits waits
whyio edges --raw waits | tail -n 1
