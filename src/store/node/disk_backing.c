/* SPDX-License-Identifier: Apache-2.0 */
#include "store/node/disk_backing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/node/updates.h"

/* A record of the logic that is on its way into the log. */
struct disk_record {
    STAILQ_ENTRY(disk_record) next;
    struct disk_backing *disk;
    uint64_t lsn;
    bool is_transaction; /* COMMIT or PREPARED: the logic can do without it */
    bool is_done;
};

struct disk_backing {
    struct wio_backing base; /* first */
    struct disk_backing_config config;
    struct wio_stable *stable;
    struct wio_io_timer *timer;
    STAILQ_HEAD(disk_records, disk_record) records; /* those under way, oldest first */
    struct disk_records free;
    struct wio_redo_change *changes; /* of the record that is being made */
    uint32_t changes_room;
    uint64_t lsn;
    bool is_kicked;  /* the timer is set */
    bool is_failing; /* `failed` is told with the next kick .. */
    bool has_failed;
    struct wio_error why; /* .. of this */
};

static struct disk_backing *of(struct wio_backing *backing)
{
    return (struct disk_backing *)backing;
}

static struct wio_storage *storage_of(const struct disk_backing *disk)
{
    return disk->config.stable.storage;
}

/* ---- the log's progress -------------------------------------------------------------------- */

static void failed(void *context, const struct wio_error *why)
{
    struct disk_backing *disk = context;
    if (!disk->has_failed) {
        disk->has_failed = true;
        disk->config.failed(disk->config.context, why);
    }
}

static void kick(void *context)
{
    struct disk_backing *disk = context;
    struct wio_error err = WIO_ERROR_INIT;
    disk->is_kicked = false;
    if (disk->is_failing) {
        failed(disk, &disk->why);
        return;
    }
    (void)!wio_stable_kick(disk->stable, &err); /* a failure is told by `failed` */
}

/* Once for all that this turn of the loop brings. */
static void kick_soon(struct disk_backing *disk)
{
    if (!disk->is_kicked) {
        disk->is_kicked = true;
        disk->config.stable.io->ops->timer_set(disk->timer, 0);
    }
}

/* Segments and memory differ from now on. The server, which called, is not to be ended within its
 * call. */
static void fail_soon(struct disk_backing *disk, const struct wio_error *why)
{
    if (!disk->is_failing) {
        disk->is_failing = true;
        disk->why = *why;
        kick_soon(disk);
    }
}

/* Records are told as durable in their order, whatever happened to those before. */
static void tell_durable(struct disk_backing *disk)
{
    struct disk_record *record;
    uint64_t lsn = 0;
    while ((record = STAILQ_FIRST(&disk->records)) != NULL && record->is_done) {
        lsn = record->lsn;
        STAILQ_REMOVE_HEAD(&disk->records, next);
        STAILQ_INSERT_HEAD(&disk->free, record, next);
    }
    if (lsn != 0) {
        disk->config.durable(disk->config.context, lsn);
    }
}

/* Of one record that the log could not take. */
static void tell_unlogged(struct disk_backing *disk, const struct disk_record *record,
                          enum wio_status status, int sys_errno)
{
    if (record->is_transaction) {
        bool is_full = status == WIO_ERR_IO && sys_errno == ENOSPC;
        disk->config.unlogged(disk->config.context, record->lsn,
                              is_full ? WIO_STORE_NO_SPACE : WIO_STORE_TOO_BIG);
        return;
    }
    struct wio_error why = WIO_ERROR_INIT;
    errno = sys_errno;
    (void)!wio_error_sys(&why, "log", "cannot write down the outcome of a transaction");
    failed(disk, &why);
}

static void logged(void *context, enum wio_status status, int sys_errno)
{
    struct disk_record *record = context;
    struct disk_backing *disk = record->disk;
    record->is_done = true;
    if (status != WIO_OK) {
        tell_unlogged(disk, record, status, sys_errno);
    }
    if (!disk->has_failed) {
        tell_durable(disk);
    }
}

/* ---- logging ------------------------------------------------------------------------------- */

static struct disk_record *make_record(struct disk_backing *disk)
{
    struct disk_record *record = STAILQ_FIRST(&disk->free);
    if (record != NULL) {
        STAILQ_REMOVE_HEAD(&disk->free, next);
    } else if ((record = malloc(sizeof(*record))) == NULL) {
        return NULL;
    }
    *record = (struct disk_record){.disk = disk, .lsn = disk->lsn + 1};
    return record;
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

static enum wio_status make_changes(struct disk_backing *disk, const struct wio_update *updates,
                                    uint32_t count, enum disk_updates which, uint32_t *made_out,
                                    struct wio_error *err)
{
    void *array = disk->changes;
    if (wio_make_room(&array, sizeof(*disk->changes), &disk->changes_room, count) != WIO_OK) {
        return no_memory(err);
    }
    disk->changes = array;
    *made_out = disk_changes_of(updates, count, which, disk->changes);
    return WIO_OK;
}

static enum wio_status log_vote(struct disk_backing *disk, const struct wio_backing_record *record,
                                uint32_t changes, struct disk_record *own, struct wio_error *err)
{
    bool is_yes = false;
    WIO_TRY(wio_stable_prepare(disk->stable, &record->txn, record->participants,
                               (uint16_t)record->participant_count, disk->changes, changes, logged,
                               own, &is_yes, err));
    return is_yes ? WIO_OK
                  : wio_error_set(err, WIO_ERR_INTERNAL, "log", WIO_ERROR_NO_OFFSET,
                                  "a vote where a tombstone stands");
}

static enum wio_status submit(struct disk_backing *disk, const struct wio_backing_record *record,
                              struct disk_record *own, struct wio_error *err)
{
    uint32_t changes = 0;
    WIO_TRY(
        make_changes(disk, record->updates, record->update_count, DISK_UPDATES_ALL, &changes, err));
    switch (record->kind) {
    case WIO_BACKING_COMMIT:
        own->is_transaction = true;
        return wio_stable_commit(disk->stable, &record->txn, disk->changes, changes, logged, own,
                                 err);
    case WIO_BACKING_PREPARED:
        own->is_transaction = true;
        return log_vote(disk, record, changes, own, err);
    case WIO_BACKING_FORGOTTEN:
        return wio_stable_forget(disk->stable, &record->txn, logged, own, err);
    case WIO_BACKING_COMMITTED:
    case WIO_BACKING_ABORTED:
        break;
    }
    return wio_stable_decide(disk->stable, &record->txn, record->kind == WIO_BACKING_COMMITTED,
                             logged, own, err);
}

static enum wio_status log_record(struct wio_backing *backing,
                                  const struct wio_backing_record *record, uint64_t *lsn_out,
                                  struct wio_error *err)
{
    struct disk_backing *disk = of(backing);
    struct disk_record *own = make_record(disk);
    if (own == NULL) {
        return no_memory(err);
    }
    enum wio_status status = submit(disk, record, own, err);
    if (status != WIO_OK) {
        STAILQ_INSERT_HEAD(&disk->free, own, next);
        return status;
    }
    STAILQ_INSERT_TAIL(&disk->records, own, next);
    *lsn_out = disk->lsn = own->lsn;
    if (!record->is_lazy) {
        kick_soon(disk);
    }
    return WIO_OK;
}

static enum wio_status flush(struct wio_backing *backing, struct wio_error *err)
{
    (void)err;
    kick_soon(of(backing));
    return WIO_OK;
}

/* ---- segments ------------------------------------------------------------------------------ */

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
static enum wio_status read_bytes(struct wio_backing *backing, uint64_t file, uint32_t segment,
                                  uint64_t offset, void *data, size_t size, size_t *got_out,
                                  struct wio_error *err)
{
    const struct wio_segment_id id = {file, segment};
    return wio_storage_read(storage_of(of(backing)), id, offset, data, size, got_out, err);
}

static enum wio_status size_of(struct wio_backing *backing, uint64_t file, uint32_t segment,
                               uint64_t *bytes_out, struct wio_error *err)
{
    const struct wio_segment_id id = {file, segment};
    return wio_storage_size(storage_of(of(backing)), id, bytes_out, err);
}

static enum wio_status reserve(struct wio_backing *backing, const struct wio_update *update,
                               uint64_t *reserved_out, struct wio_error *err)
{
    const struct wio_segment_id id = {update->file, update->segment};
    const bool is_cut = update->kind == WIO_UPDATE_TRUNCATE;
    return wio_storage_reserve(storage_of(of(backing)), id, is_cut ? update->size : update->offset,
                               is_cut ? 0 : update->size, reserved_out, err);
}

static void release(struct wio_backing *backing, uint64_t reserved)
{
    wio_storage_release(storage_of(of(backing)), reserved);
}

/* A note that the log cannot take: recovery would bring back what was cut off. */
static void noted(void *context, enum wio_status status, int sys_errno)
{
    struct disk_backing *disk = context;
    struct wio_error why = WIO_ERROR_INIT;
    if (status != WIO_OK) {
        errno = sys_errno;
        (void)!wio_error_sys(&why, "log", "cannot write down a truncation");
        failed(disk, &why);
    }
}

/* What takes bytes away has to be in the log too, before what is logged later. */
static enum wio_status note_cuts(struct disk_backing *disk, const struct wio_update *updates,
                                 uint32_t count, struct wio_error *err)
{
    uint32_t cuts = 0;
    WIO_TRY(make_changes(disk, updates, count, DISK_UPDATES_CUTS, &cuts, err));
    if (cuts == 0) {
        return WIO_OK;
    }
    kick_soon(disk);
    return wio_stable_note(disk->stable, disk->changes, cuts, noted, disk, err);
}

static enum wio_status perform(struct disk_backing *disk, const struct wio_update *updates,
                               uint32_t count, struct wio_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(disk_update_perform(storage_of(disk), &updates[i], err));
    }
    return note_cuts(disk, updates, count, err);
}

/* What the log had, it has performed itself. */
static enum wio_status apply(struct wio_backing *backing, const struct wio_update *updates,
                             uint32_t count, bool is_logged, struct wio_error *err)
{
    struct disk_backing *disk = of(backing);
    struct wio_error own = WIO_ERROR_INIT;
    if (is_logged) {
        return WIO_OK;
    }
    enum wio_status status = perform(disk, updates, count, &own);
    if (status != WIO_OK) {
        fail_soon(disk, &own);
        return wio_error_pass(err, &own);
    }
    return WIO_OK;
}

static enum wio_status space(struct wio_backing *backing, struct wio_backing_space *space_out,
                             struct wio_error *err)
{
    struct wio_storage_space space;
    WIO_TRY(wio_storage_space(storage_of(of(backing)), &space, err));
    *space_out = (struct wio_backing_space){.total_bytes = space.total_bytes,
                                            .used_bytes = space.used_bytes};
    return WIO_OK;
}

static const struct wio_backing_ops disk_ops = {.read = read_bytes,
                                                .size = size_of,
                                                .reserve = reserve,
                                                .release = release,
                                                .apply = apply,
                                                .log = log_record,
                                                .flush = flush,
                                                .space = space};

/* ---- recovery ------------------------------------------------------------------------------ */

static enum wio_status restore_doubts(const struct disk_backing *disk, struct wio_server *server,
                                      uint64_t now_ns)
{
    struct wio_stable_doubt doubt;
    uint32_t place = 0;
    while (wio_stable_in_doubt(disk->stable, &place, &doubt)) {
        WIO_CLEANUP(disk_update_list_fini) struct disk_update_list list = {0};
        WIO_TRY(disk_updates_read(doubt.redo, doubt.redo_bytes, &list));
        const struct wio_backing_record record = {.kind = WIO_BACKING_PREPARED,
                                                  .txn = doubt.txn,
                                                  .participants = doubt.participants,
                                                  .participant_count = doubt.participant_count,
                                                  .updates = list.updates,
                                                  .update_count = list.count};
        WIO_TRY(wio_server_restore(server, &record, now_ns));
    }
    return WIO_OK;
}

static enum wio_status restore_decided(const struct disk_backing *disk, struct wio_server *server,
                                       uint64_t now_ns)
{
    struct wio_backing_record record = {.kind = WIO_BACKING_COMMIT};
    uint32_t place = 0;
    bool is_committed = false;
    while (wio_stable_recent(disk->stable, &place, &record.txn)) {
        WIO_TRY(wio_server_restore(server, &record, now_ns));
    }
    place = 0;
    while (wio_stable_decided(disk->stable, &place, &record.txn, &is_committed)) {
        record.kind = is_committed ? WIO_BACKING_COMMITTED : WIO_BACKING_ABORTED;
        WIO_TRY(wio_server_restore(server, &record, now_ns));
    }
    return WIO_OK;
}

enum wio_status disk_backing_restore(const struct disk_backing *disk, struct wio_server *server,
                                     uint64_t now_ns, struct wio_error *err)
{
    enum wio_status status = restore_doubts(disk, server, now_ns);
    status = status == WIO_OK ? restore_decided(disk, server, now_ns) : status;
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, status, "log", WIO_ERROR_NO_OFFSET,
                                            "cannot restore the log's transactions: %s",
                                            wio_status_text(status));
}

/* ---- life ---------------------------------------------------------------------------------- */

static void free_records(struct disk_records *records)
{
    struct disk_record *record;
    while ((record = STAILQ_FIRST(records)) != NULL) {
        STAILQ_REMOVE_HEAD(records, next);
        free(record);
    }
}

void disk_backing_destroy(struct disk_backing *disk)
{
    if (disk != NULL) {
        disk->config.stable.io->ops->timer_destroy(disk->timer);
        wio_stable_close(disk->stable);
        free_records(&disk->records);
        free_records(&disk->free);
        free(disk->changes);
        free(disk);
    }
}

static void destroy(struct disk_backing **disk)
{
    disk_backing_destroy(*disk);
}

enum wio_status disk_backing_create(const struct disk_backing_config *config,
                                    struct disk_backing **disk_out, struct wio_error *err)
{
    WIO_CLEANUP(destroy) struct disk_backing *disk = calloc(1, sizeof(*disk));
    if (disk == NULL) {
        return no_memory(err);
    }
    disk->base.ops = &disk_ops;
    disk->config = *config;
    disk->config.stable.failed = failed;
    disk->config.stable.context = disk;
    STAILQ_INIT(&disk->records);
    STAILQ_INIT(&disk->free);
    disk->timer = config->stable.io->ops->timer_create(config->stable.io, kick, disk);
    if (disk->timer == NULL) {
        return no_memory(err);
    }
    WIO_TRY(wio_stable_open(&disk->config.stable, &disk->stable, err));
    *disk_out = disk;
    disk = NULL;
    return WIO_OK;
}

struct wio_backing *disk_backing_base(struct disk_backing *disk)
{
    return &disk->base;
}

enum wio_status disk_backing_rest(struct disk_backing *disk, struct wio_error *err)
{
    return wio_stable_checkpoint(disk->stable, err);
}

bool disk_backing_is_idle(const struct disk_backing *disk)
{
    return disk->has_failed || wio_stable_is_idle(disk->stable);
}

void disk_backing_stats(const struct disk_backing *disk, struct wio_stable_stats *stats_out)
{
    wio_stable_stats(disk->stable, stats_out);
}
