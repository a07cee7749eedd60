/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress bar on stderr for work that takes longer than a second:
 *
 *     sealing [=========>          ]  47 %  12,345,678 events  1,234,567 events/s  8 s left
 *
 * Only where stderr is a terminal (WHYIO_PROGRESS=on|off overrides), never with -q.
 *
 *     struct cmd_progress progress;
 *     cmd_progress_init(&progress, "sealing", &args.common);
 *     params.progress = cmd_progress_update;
 *     params.progress_arg = &progress;
 *     ... the library call ...
 *     cmd_progress_end(&progress);
 */
#ifndef WHYIO_PROGRESS_H
#define WHYIO_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct cmd_progress {
    const char *what;
    bool enabled;
    bool is_drawn;
    uint64_t start_ns; /* of the first report */
    uint64_t drawn_ns;
    uint64_t start_done;
    bool has_start;
};

void cmd_progress_init(struct cmd_progress *progress, const char *what,
                       const struct cmd_options *options);

/* The callback that library rooms take; `arg` is the struct cmd_progress: `done` of `total` (0 =
 * unknown) `unit`s. Unit "B" or "bytes" is shown as KiB, MiB ..; anything else is a count. Cheap:
 * draws at most ten times a second. */
void cmd_progress_update(void *arg, uint64_t done, uint64_t total, const char *unit);

/* Take the bar away. May be called again. */
void cmd_progress_end(struct cmd_progress *progress);

#endif
