/* SPDX-License-Identifier: Apache-2.0 */
/* Performing one operation. */
#ifndef WIO_REPLAY_PERFORM_PERFORM_H
#define WIO_REPLAY_PERFORM_PERFORM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>

#include "replay/initial/classify.h"
#include "replay/run/worker.h"

enum rp_did {
    RP_DID_PERFORM = 0,
    RP_DID_SKIP,
    RP_DID_CONTROL /* not an operation on a file: nothing to time or to compare */
};

struct rp_outcome {
    enum rp_did did;
    enum wio_replay_skip skip;
    int64_t result;
    int error;
    bool has_other_size; /* stat of a file whose size is not that of the trace .. */
    int64_t size;        /* .. but this: bytes */
    enum rp_half half;   /* of a copy only this was done */
};

/* One class of operations. `out` is zero when it is called. */
typedef void rp_do_fn(struct rp_worker *worker, const struct wio_event *event,
                      struct rp_outcome *out);

rp_do_fn rp_do_open, rp_do_close, rp_do_dup, rp_do_fcntl, rp_do_lock;
rp_do_fn rp_do_read, rp_do_write, rp_do_copy, rp_do_seek, rp_do_sync, rp_do_size, rp_do_advise;
rp_do_fn rp_do_stat, rp_do_access, rp_do_readlink, rp_do_statfs, rp_do_xattr, rp_do_readdir;
rp_do_fn rp_do_mkdir, rp_do_unlink, rp_do_rename, rp_do_link, rp_do_symlink, rp_do_mknod;
rp_do_fn rp_do_attr, rp_do_map, rp_do_store, rp_do_request;

/* Is there nothing of the name that this event tries to give? */
bool rp_is_name_free(const struct rp_worker *worker, const struct wio_event *event);

/* What an event made whose call failed in the trace must not stay: its name, or (`flags`:
 * AT_REMOVEDIR) its directory. */
void rp_remove_made(const struct rp_worker *worker, const struct wio_event *event, int flags);

/* A lock of a range of a file, by fcntl. */
void wio_lock_range(struct rp_worker *worker, const struct wio_event *event, int fd,
                    struct rp_outcome *out);

/* The program had the file, the replay could not open it and that was counted: open it in another
 * way, so that what follows on the descriptor can still be performed. */
void rp_open_anyway(struct rp_worker *worker, const struct wio_event *event,
                    const struct rp_outcome *out);

/*
 * The same, but an operation that finds a file which another thread has yet to make, fill or remove
 * is tried again until that one has come as far as it had in the trace. `begin`: now,
 * CLOCK_MONOTONIC. Gives the begin of the last try.
 */
/* In run/order.c. The first precedence of a stream. */
uint32_t rp_order_first(const struct rp_plan *plan, uint32_t stream);
/* Wait until the events of other threads that this one has to follow are over (file_order.h). */
void rp_order_await(struct rp_worker *worker, const struct wio_event *event);

uint64_t rp_perform_in_order(struct rp_worker *worker, const struct wio_event *event,
                             uint64_t begin, struct rp_outcome *out);

/* Any operation but the asynchronous reads, writes and flushes, processes and threads. */
rp_do_fn rp_perform;

static inline void rp_done(struct rp_outcome *out, int64_t result)
{
    out->result = result;
    out->error = result < 0 ? errno : 0;
}

static inline void rp_skip(struct rp_outcome *out, enum wio_replay_skip skip)
{
    out->did = RP_DID_SKIP;
    out->skip = skip;
}

/* Did the recorded call fail while names were looked up? The same call is only a look-up here, too:
 * where it finds what the program did not, nothing is changed, and the mismatch is counted. Paths
 * of a trace do not end with a slash; one that did named a directory (ENOTDIR). */
bool rp_failed_by_name(const struct wio_event *event);

const char *rp_path(const struct rp_worker *worker, const struct wio_event *event);
const char *rp_path2(const struct rp_worker *worker, const struct wio_event *event);
/* The kind of a path of the event. */
uint8_t rp_kind(const struct rp_worker *worker, const struct wio_event *event, uint32_t string);

/* The entry of a recorded descriptor at this moment of the trace; waits for a thread that opens it.
 * NULL where it is not open. */
struct rp_fd *rp_fd_find(struct rp_worker *worker, const struct wio_event *event, int64_t fd);

/* The entry of a descriptor that another thread opened: waits for that. NULL and *is_shared_out
 * false where the descriptor is no such one. */
struct rp_fd *rp_share_entry(struct rp_worker *worker, const struct wio_event *event, int64_t fd,
                             bool *is_shared_out);

/* The real descriptor behind event->fd. One that no operation opened is opened now (standard
 * output of the run, say). -1: `out` says why not. */
int rp_fd_use(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out);
int rp_fd_use2(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out);

/* The calling thread's own entry for a descriptor that it is given; NULL if out of range. */
struct rp_fd *rp_fd_own(struct rp_worker *worker, int64_t fd);

/* Memory for the data of an operation: `bytes` of what is written (begins at another place for each
 * offset), or room for what is read. NULL: no memory. */
uint8_t *rp_source(const struct rp_worker *worker, const struct wio_event *event, uint64_t bytes);
/* What a write asked for, at most `limit`; where less went (a full disk, a limit of the file's
 * size), what went. */
size_t rp_bytes_to_write(const struct wio_event *event, size_t limit);
uint8_t *rp_sink(struct rp_worker *worker);

/* An operation was performed and ends now: count it, compare it with the trace, keep it where that
 * is asked for. `index` is its place in the stream. Ends the replay where the target cannot do it.
 */
void rp_settle(struct rp_worker *worker, const struct wio_event *event, uint64_t index,
               const struct rp_outcome *out, uint64_t begin_ns);

/* Release what reading directories holds. */
void rp_dirs_fini(struct rp_worker *worker);

/* Is what was done what the trace says: size, success, errno? Pure. */
bool rp_is_same(const struct wio_event *event, const struct rp_outcome *out);

#endif
