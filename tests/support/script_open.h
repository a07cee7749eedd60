/* SPDX-License-Identifier: Apache-2.0 */
/* Traces made by hand (script.h), for unit tests that read them at once. */
#ifndef WIO_TESTS_SUPPORT_SCRIPT_OPEN_H
#define WIO_TESTS_SUPPORT_SCRIPT_OPEN_H

#include <whyio/trace.h>

/* The trace of a script, in a directory of its own below wio_test_dir(); wio_trace_close() it. */
struct wio_trace *script_open(const char *script);

#endif
