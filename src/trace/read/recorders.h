/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorders of a trace said of the machines that they ran on. */
#ifndef WIO_TRACE_READ_RECORDERS_H
#define WIO_TRACE_READ_RECORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/trace.h>

/* Texts are borrowed from the trace and end where their bytes do, not with a NUL. */
struct wio_recorder_info {
    const char *boot_id; /* NUL-terminated: which boot of which machine; "" = not known */
    const char *host;
    const char *mounts;  /* lines of mountinfo; empty with --anonymize */
    const char *kernel;  /* "Linux 6.1.0 x86_64" */
    const char *machine; /* lines of what the machine said of itself: wio_recorder_fact */
    const char *options; /* words: wio_recorder_has_option */
    size_t host_bytes;
    size_t mounts_bytes;
    size_t kernel_bytes;
    size_t machine_bytes;
    size_t options_bytes;
};

/* One for each segment. */
uint32_t wio_trace_recorder_count(const struct wio_trace *trace);
/* WIO_ERR_FORMAT where the segment's META is damaged. */
WIO_MUST_CHECK enum wio_status wio_trace_recorder(const struct wio_trace *trace, uint32_t i,
                                                  struct wio_recorder_info *info_out);
/* Of lines "NAME NUMBER", decimal up to the end of the line, the first of this name. */
bool wio_meta_number(const char *text, size_t bytes, const char *name, uint64_t *out);
/* The number of a name of R-META-1; false where the recorder has not told it. */
bool wio_recorder_fact(const struct wio_recorder_info *info, const char *name, uint64_t *out);
/* Whether the recorder worked with an option: "causal" (R-META-2). */
bool wio_recorder_has_option(const struct wio_recorder_info *info, const char *name);

#endif
