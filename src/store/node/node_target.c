/* SPDX-License-Identifier: Apache-2.0 */
#include "store/node/node_target.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "store/node/disk_backing.h"
#include "store/node/sizes.h"
#include "store/storage/root.h"

#define LOOK_NS UINT64_C(1000000) /* how often a target that stops is looked at */

/* What a target keeps in memory, at the most. */
enum {
    CLIENTS_MAX = 16384,
    TXNS_MAX = 65536,
    CALLS_MAX = 65536,
    LOCKS_MAX = 1 << 20,
    OUTCOMES_MAX = 65536,
    UPDATE_BYTES_MAX = 256 << 20
};

struct node_target {
    struct wio_io *io;
    struct node_target_config config;
    struct wio_storage *storage;
    struct disk_backing *disk;
    struct wio_target *target; /* NULL: it serves nothing any more */
    struct wio_io_timer *timer;
    void (*stopped)(void *context);
    void *stopped_context;
};

/* ---- the log's progress -------------------------------------------------------------------- */

static void durable(void *context, uint64_t lsn)
{
    struct node_target *node = context;
    if (node->target != NULL) {
        wio_target_durable(node->target, lsn, true);
    }
}

static void unlogged(void *context, uint64_t lsn, enum wio_store_result result)
{
    struct node_target *node = context;
    if (node->target != NULL) {
        wio_target_unlogged(node->target, lsn, result);
    }
}

/* Nothing is answered any more: what is under way may be in the log or not, which the next process
 * finds out, and clients ask it again. */
static void failed(void *context, const struct wio_error *why)
{
    struct node_target *node = context;
    wio_target_destroy(node->target);
    node->target = NULL;
    node->config.failed(node->config.context, why);
}

/* ---- begin --------------------------------------------------------------------------------- */

static enum wio_status find_sizes(const struct node_target *node, struct node_sizes *sizes_out,
                                  struct wio_error *err)
{
    const struct node_target_config *config = &node->config;
    struct wio_io_space space;
    WIO_TRY(node->io->ops->space(node->io, &space, err));
    bool is_less = config->size_bytes != 0 && config->size_bytes < space.total_bytes;
    *sizes_out = node_sizes_for(is_less ? config->size_bytes : space.total_bytes);
    if (config->log_segment_bytes != 0) {
        sizes_out->log_segment_bytes = config->log_segment_bytes;
        sizes_out->txn_bytes_max = config->log_segment_bytes / 2;
        sizes_out->checkpoint_bytes = config->checkpoint_bytes;
        sizes_out->keep_free_bytes = config->checkpoint_bytes + 4 * config->log_segment_bytes;
    }
    return WIO_OK;
}

static enum wio_status open_storage(struct node_target *node, const struct node_sizes *sizes,
                                    struct wio_error *err)
{
    const struct wio_storage_config storage = {.io = node->io,
                                               .size_bytes = node->config.size_bytes,
                                               .keep_free_bytes = sizes->keep_free_bytes};
    struct wio_store_root root;
    WIO_TRY(wio_store_root_open(node->io, node->config.log, true, &root, err));
    WIO_TRY(wio_storage_open(&storage, &node->storage, err));
    const struct disk_backing_config disk = {
        .stable = {.io = node->io,
                   .storage = node->storage,
                   .log = node->config.log,
                   .may_create = root.is_new,
                   .segment_bytes = sizes->log_segment_bytes,
                   .checkpoint_bytes = sizes->checkpoint_bytes},
        .durable = durable,
        .unlogged = unlogged,
        .failed = failed,
        .context = node,
    };
    WIO_TRY(disk_backing_create(&disk, &node->disk, err));
    return root.is_new ? wio_store_root_finish(node->io, &root, err) : WIO_OK;
}

static enum wio_status make_target(struct node_target *node, const struct node_sizes *sizes,
                                   struct wio_error *err)
{
    const struct node_target_config *config = &node->config;
    const struct wio_target_config target = {
        .link = *config->link,
        .addresses = config->addresses,
        .servers_key = config->servers_key,
        .tracer = config->tracer,
        .admin = config->admin,
        .admission = config->admission,
        .server = {.self = config->self,
                   .targets = config->targets,
                   .policy = config->policy,
                   .clients_max = CLIENTS_MAX,
                   .txns_max = TXNS_MAX,
                   .calls_max = CALLS_MAX,
                   .locks_max = LOCKS_MAX,
                   .outcomes_max = OUTCOMES_MAX,
                   .txn_bytes_max = sizes->txn_bytes_max,
                   .update_bytes_max = UPDATE_BYTES_MAX,
                   .backing = disk_backing_base(node->disk)},
    };
    WIO_TRY(wio_target_create(node->io, &target, &node->target, err));
    return disk_backing_restore(node->disk, wio_target_server(node->target),
                                node->io->ops->now_ns(node->io), err);
}

static void destroy(struct node_target **node)
{
    node_target_destroy(*node);
}

enum wio_status node_target_create(struct wio_io *io, const struct node_target_config *config,
                                   struct node_target **target_out, struct wio_error *err)
{
    struct node_sizes sizes;
    WIO_CLEANUP(destroy) struct node_target *node = calloc(1, sizeof(*node));
    if (node == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    node->io = io;
    node->config = *config;
    WIO_TRY(find_sizes(node, &sizes, err));
    WIO_TRY(open_storage(node, &sizes, err));
    WIO_TRY(make_target(node, &sizes, err));
    *target_out = node;
    node = NULL;
    return WIO_OK;
}

enum wio_status node_target_listen(struct node_target *target, const char *address,
                                   const char **address_out, struct wio_error *err)
{
    return wio_target_listen(target->target, address, address_out, err);
}

void node_target_set_addresses(struct node_target *target, const char *const *addresses)
{
    if (target->target != NULL) { /* else it has failed */
        wio_target_set_addresses(target->target, addresses);
    }
}

/* ---- end ----------------------------------------------------------------------------------- */

static void look(void *context)
{
    struct node_target *node = context;
    struct wio_error err = WIO_ERROR_INIT;
    if (disk_backing_is_idle(node->disk)) {
        if (wio_storage_sync(node->storage, &err) != WIO_OK) {
            node->config.failed(node->config.context, &err); /* what was volatile may be lost */
        }
        node->stopped(node->stopped_context);
    } else {
        node->io->ops->timer_set(node->timer, LOOK_NS);
    }
}

/* What is under way in the log ends as well: its clients may come back. */
static void rest(void *context)
{
    struct node_target *node = context;
    struct wio_error err = WIO_ERROR_INIT;
    (void)!disk_backing_rest(node->disk, &err); /* a failure is told by `failed` */
    look(node);
}

void node_target_stop(struct node_target *target, void (*stopped)(void *context), void *context)
{
    target->stopped = stopped;
    target->stopped_context = context;
    wio_target_destroy(target->target);
    target->target = NULL;
    target->timer = target->io->ops->timer_create(target->io, look, target);
    if (target->timer == NULL) {
        struct wio_error err = WIO_ERROR_INIT;
        (void)wio_error_set(&err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                            "no memory to end: what is stable is in the log");
        target->config.failed(target->config.context, &err);
        stopped(context);
        return;
    }
    rest(target);
}

void node_target_quit(struct node_target *target)
{
    wio_target_destroy(target->target);
    target->target = NULL;
}

void node_target_destroy(struct node_target *target)
{
    if (target == NULL) {
        return;
    }
    wio_target_destroy(target->target);
    disk_backing_destroy(target->disk);
    wio_storage_close(target->storage);
    target->io->ops->timer_destroy(target->timer);
    free(target);
}

void node_target_stats(const struct node_target *target, struct node_target_stat *stat_out)
{
    *stat_out = (struct node_target_stat){0};
    if (target->target != NULL) {
        stat_out->server = wio_server_stat(wio_target_server(target->target));
    }
    disk_backing_stats(target->disk, &stat_out->stable);
}

struct wio_intake *node_target_intake(struct node_target *target)
{
    return target->target != NULL ? wio_target_intake(target->target) : NULL;
}

struct wio_backing *node_target_backing(struct node_target *target)
{
    return disk_backing_base(target->disk);
}
