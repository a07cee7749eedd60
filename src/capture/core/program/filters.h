/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of system calls (seccomp) that are older than the program: a sandbox has set them before
 * its exec (bubblewrap, minijail, systemd). One that was made for the program kills it for a call
 * of ours. The recorder says how many it has itself (WHYIO_FILTERS); a filter is never taken away,
 * so a process with as many has the same ones.
 */
#ifndef WIO_CAPTURE_CORE_FILTERS_H
#define WIO_CAPTURE_CORE_FILTERS_H

#include <stdbool.h>

#include "capture/core/attributes.h"

/* False where this process has filters that the recorder does not have, which has as many as
 * `known` says (WHYIO_FILTERS; NULL = it does not say). Makes only calls that the loader has made
 * before (openat, read, close); where /proc is missing, and the recorder has no filter, prctl.
 * Where it is missing and the recorder has some, those are taken to be all. Signal safe. */
bool cap_filters_are_known(const char *known) CAP_HIDDEN;

#endif
