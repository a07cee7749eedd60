/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target that keeps its data below the directory of its `struct wio_io`: root, segment files and
 * log below, the target's process (store/session/target.h) above. One thread: the loop's.
 *
 *     node_target_create(io, &config, &target, err);       recovers
 *     node_target_listen(target, address, &at, err);
 *     ..
 *     node_target_stop(target, stopped, context);          .. stopped() .. node_target_destroy
 */
#ifndef WIO_STORE_NODE_NODE_TARGET_H
#define WIO_STORE_NODE_NODE_TARGET_H

#include "store/session/target.h"
#include "store/storage/stable.h"

struct node_target;

struct node_target_config {
    const struct wio_link_config *link;     /* lives as long */
    const struct wio_link_key *servers_key; /* NULL: no grants are wanted */
    const char *const *addresses;           /* of all targets; copied */
    uint16_t self;
    uint16_t targets;
    enum wio_lock_policy policy;
    enum wio_log_choice log;
    uint64_t size_bytes; /* 0: as much as the device gives */
    /* Of the log, where they are not to follow from the size; 0: they are. */
    uint64_t log_segment_bytes;
    uint64_t checkpoint_bytes;
    struct wio_admit_total *admission; /* of all targets of the process; NULL: none */
    struct wio_tracer *tracer;         /* NULL: transactions are not traced; the caller's */
    uint32_t admin;                    /* the user who may drop statistics of jobs, beside user 0 */
    /* Nothing becomes durable any more: once, from the loop. The process is to end, and to recover
     * from the log. */
    void (*failed)(void *context, const struct wio_error *why);
    void *context;
};

struct node_target_stat {
    struct wio_server_stat server;
    struct wio_stable_stats stable;
};

/* The caller destroys it. A root that is not there yet is made where the directory is empty. */
WIO_MUST_CHECK enum wio_status node_target_create(struct wio_io *io,
                                                  const struct node_target_config *config,
                                                  struct node_target **target_out,
                                                  struct wio_error *err);
/* As wio_target_listen. */
WIO_MUST_CHECK enum wio_status node_target_listen(struct node_target *target, const char *address,
                                                  const char **address_out, struct wio_error *err);
/* Where the others are, where that was not known at the begin. Copied. */
void node_target_set_addresses(struct node_target *target, const char *const *addresses);
/* No client is served any more; all that was done, volatile or not, becomes durable. Then
 * `stopped`, from the loop: once. */
void node_target_stop(struct node_target *target, void (*stopped)(void *context), void *context);
/* No client is served any more, and nothing is made durable: its data are to be removed. */
void node_target_quit(struct node_target *target);
/* NULL is allowed. Without node_target_stop it is as after a kill. */
void node_target_destroy(struct node_target *target);

void node_target_stats(const struct node_target *target, struct node_target_stat *stat_out);
/* NULL: without admission, or it serves nothing any more. */
struct wio_intake *node_target_intake(struct node_target *target);
/* The bytes that a client would read now, of tests: without locks. */
struct wio_backing *node_target_backing(struct node_target *target);

#endif
