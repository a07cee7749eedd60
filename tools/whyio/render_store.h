/* SPDX-License-Identifier: Apache-2.0 */
/* What whyio store prints. */
#ifndef WHYIO_RENDER_STORE_H
#define WHYIO_RENDER_STORE_H

#include "store/stage/stage.h"

enum cmd_store_output { CMD_STORE_COUNTS, CMD_STORE_ENTRIES, CMD_STORE_STATS, CMD_STORE_SPACE };

struct cmd_store_line {
    char *path;
    struct wio_store_attr attr; /* of an entry */
    char *message;              /* of a failure */
};

/* Zero-initialise. */
struct cmd_store_result {
    struct wio_stage_counts counts;
    double time_s;
    struct wio_store_space space;
    struct cmd_store_line *entries;
    uint32_t entry_count;
    uint32_t entry_room;
    struct cmd_store_line *failures;
    uint32_t failure_count;
    uint32_t failure_room;
};

void cmd_store_result_fini(struct cmd_store_result *result);
WIO_MUST_CHECK enum wio_status cmd_store_entry(struct cmd_store_result *result, const char *path,
                                               const struct wio_store_attr *attr,
                                               struct wio_error *err);
/* For JSON; dropped where there is no memory: it was told on stderr. */
void cmd_store_failure(struct cmd_store_result *result, const struct wio_error *err);
void cmd_store_render(const struct cmd_store_result *result, const char *verb,
                      enum cmd_store_output output, bool is_json, bool is_quiet);

/* The process's umask, as it is. */
uint32_t cmd_store_umask(void);

#endif
