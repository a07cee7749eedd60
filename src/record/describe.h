/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says about its recording: META of the segments, FORMAT.md#meta. */
#ifndef WIO_RECORD_DESCRIBE_H
#define WIO_RECORD_DESCRIBE_H

#include <stdbool.h>

#include <whyio/status.h>

#include "base/system/boot_id.h"
#include "record/launch.h"
#include "record/machine.h"

struct wio_segment;

struct wio_description {
    char host[65];
    char kernel[256];               /* "Linux 6.1.0 x86_64" */
    char boot_id[WIO_BOOT_ID_ROOM]; /* "" = unknown */
    char cpus[16];                  /* that this process may use */
    char machine[WIO_MACHINE_TEXT]; /* R-META-1 */
    char options[80];               /* "stacks mpi-internals .." */
    char launch[WIO_LAUNCH_BYTES];
    char *const *command;
    char *const *environment;
    bool anonymize; /* leaves out command, environment and mounts */
    /* Set when the command has ended. */
    bool is_ended;
    bool is_done; /* the last descendant has ended too */
    int exit_status;
};

/* Fill in the machine; the rest is zero. */
void wio_description_init(struct wio_description *description, bool anonymize);

/*
 * Write DIR/<name>.begin.seg: what is known before the command runs, so that the trace of a
 * recorder that is killed still tells it. It has no events.
 */
WIO_MUST_CHECK enum wio_status wio_description_begin(const struct wio_description *description,
                                                     const char *dir, const char *name,
                                                     struct wio_error *err);

/* Put everything known into a segment: the signature is that of wio_seal_params.decorate, `arg`
 * is the description. */
WIO_MUST_CHECK enum wio_status wio_description_write(void *arg, struct wio_segment *segment,
                                                     struct wio_error *err);

#endif
