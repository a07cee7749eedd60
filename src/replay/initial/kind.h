/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded path is, by its name: a file to replay, something served from memory, or skipped.
 */
#ifndef WIO_REPLAY_INITIAL_KIND_H
#define WIO_REPLAY_INITIAL_KIND_H

#include <stdint.h>

#include <whyio/trace.h>

#include "replay/replay.h"

enum rp_kind {
    RP_KIND_FILE = 0, /* below the target */
    RP_KIND_NAMELESS, /* a file without a name (memfd, tmpfile, removed): only by its descriptor */
    RP_KIND_NULL,     /* served from memory */
    RP_KIND_ZERO,
    RP_KIND_RANDOM,
    RP_KIND_SKIP /* RP_KIND_SKIP + enum wio_replay_skip */
};

#define RP_KIND_OF_SKIP(id) ((uint8_t)(RP_KIND_SKIP + WIO_REPLAY_SKIP_##id))

/* "" is RP_KIND_OF_SKIP(UNKNOWN). Pure. */
uint8_t rp_kind_of_path(const char *path);

/* The kind that a file type means for its path; RP_KIND_FILE for all that can be replayed. Pure. */
uint8_t rp_kind_of_type(enum wio_file_type type);

/* What d_type of readdir means. Pure. */
enum wio_file_type rp_type_of_entry(unsigned d_type);

#endif
