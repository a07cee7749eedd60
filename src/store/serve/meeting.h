/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the nodes of a job's own store find each other: by files of mode 0600 in a directory that all
 * of them see.
 *
 *     NAME.servers   the keys and a number of the run, by rank 0
 *     NAME.R         that number and the address of target R, by rank R
 *     NAME.store     address and key, for clients, by rank 0 when all targets are there
 */
#ifndef WIO_STORE_SERVE_MEETING_H
#define WIO_STORE_SERVE_MEETING_H

#include <limits.h>

#include "store/io.h"
#include "store/link/address.h"
#include "store/link/keys.h"
#include "store/serve/serve.h"

struct serve_meeting {
    struct wio_serve_job job;
    struct wio_link_key key; /* of clients */
    struct wio_link_key servers_key;
    char path[PATH_MAX];     /* DIR/NAME */
    struct wio_link_key run; /* tells files of this run from those of an earlier one */
    int remains;             /* serve_remains_add */
    bool has_servers;        /* rank 0: the file is this job's */
    bool has_rank;           /* so is NAME.R */
};

/* Rank 0 makes the keys, others wait for them. Files go with this process by `remains`
 * (serve_remains_begin). WIO_ERR_BUSY: files of that name are there already.
 * WIO_ERR_IO: they did not come within a minute. */
WIO_MUST_CHECK enum wio_status serve_meeting_begin(struct serve_meeting *meeting, struct wio_io *io,
                                                   const struct wio_serve_job *job, int remains,
                                                   struct wio_error *err);
/* Tell the own target's address, and wait for those of all. */
WIO_MUST_CHECK enum wio_status serve_meeting_exchange(struct serve_meeting *meeting,
                                                      const char *own,
                                                      char addresses_out[][WIO_LINK_ADDRESS_BYTES],
                                                      struct wio_error *err);
/* Rank 0: clients can come. */
WIO_MUST_CHECK enum wio_status serve_meeting_publish(const struct serve_meeting *meeting,
                                                     const char *address, struct wio_error *err);
/* The files of this rank go. */
void serve_meeting_end(struct serve_meeting *meeting);

#endif
