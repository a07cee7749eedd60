/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the recorded command. */
#ifndef WIO_RECORD_ENVIRONMENT_H
#define WIO_RECORD_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_environment_params {
    const char *capture_lib; /* goes in front of LD_PRELOAD; NULL = the command is not recorded */
    const char *rings;       /* WHYIO_RINGS */
    bool stacks;
    bool no_stacks;
    bool mpi_internals;
    bool mmap_pages;
    bool causal;
    uint64_t max_size;    /* WHYIO_MAX_SIZE, 0 = no bound */
    bool keep_last;       /* WHYIO_KEEP */
    const char *board;    /* WHYIO_BOARD, NULL = none */
    const char *director; /* WHYIO_DIRECTOR, NULL = none */
    const char *filters;  /* WHYIO_FILTERS, NULL = none */
    const char *tracer;   /* WHYIO_TRACER, NULL = none */
};

/* How many filters of system calls (seccomp) this process has, which its children have too; "any"
 * where it has some and the kernel does not tell how many. */
#define WIO_FILTERS_BYTES 24
void wio_environment_filters(char text_out[WIO_FILTERS_BYTES]);

/*
 * A copy of `base` (ended by NULL, as environ) with the capture library preloaded and whyio's
 * variables set; settings that an outer recorder made are replaced, the user's own LD_PRELOAD
 * stays behind ours. Release with wio_environment_destroy.
 */
WIO_MUST_CHECK enum wio_status wio_environment_create(char *const *base,
                                                      const struct wio_environment_params *params,
                                                      char ***environment_out);
void wio_environment_destroy(char ***environment);

#endif
