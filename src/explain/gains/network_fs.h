/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the files of a finding on a file system that other machines share (nfs, lustre, gpfs ..)? By
 * what the recorder has seen of the file, else by the mounts of the recorders. Private to the room.
 */
#ifndef WIO_EXPLAIN_NETWORK_FS_H
#define WIO_EXPLAIN_NETWORK_FS_H

#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"
#include "explain/findings/finding.h"

/* Zero-initialise; release with wio_network_fs_fini, also after an error. */
struct wio_network_fs {
    const struct wio_trace *trace;
    char **mounts; /* mountinfo of each recorder that has one */
    uint32_t count;
    struct wio_map files; /* path -> number of its wio_file_info, which has a file system */
};

/* The trace must outlive it. */
WIO_MUST_CHECK enum wio_status wio_network_fs_init(struct wio_network_fs *network,
                                                   const struct wio_trace *trace);
void wio_network_fs_fini(struct wio_network_fs *network);

/* The type of the first file that is on one; NULL: none is known to be. Static text. */
const char *wio_network_fs_of(const struct wio_network_fs *network, const struct wio_steps *steps,
                              const struct wio_finding *finding);
/* "nfs4" -> "nfs4", "ext4" -> NULL. Static text. */
const char *wio_network_fs_type(const char *type);

#endif
