/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/journal.h"

#include <math.h>

/* Of a commit that has nothing but an inode: it, and a block in front and one behind. */
#define INODE_BLOCKS 3

bool wio_journal_commits_time(const struct wio_model_op *op)
{
    return (op->method == WIO_MODEL_SYNC || op->method == WIO_MODEL_DIRECT) && !op->is_data;
}

/* A file's time stamp goes by ticks: O_SYNC has it committed where it is a new one. Tables have
 * that where it is part of what a write takes; a limit by slices counts its bytes (rule 14). */
static bool is_stamped_anew(const struct wio_cache *cache, const struct wio_cache_file *file,
                            const struct wio_model_op *op)
{
    bool is_new = file->tick != wio_cache_jiffy(cache);
    bool is_left =
        file->timed_s > file->device->commit_begin_s; /* by a write that waits for none */
    return wio_journal_commits_time(op) && file->device->params.slice > 0 && (is_new || is_left);
}

/* Does what ends at `size` need no new block to end at `end`? */
static bool is_within(uint64_t size, uint64_t end)
{
    return end > size && wio_cache_page_behind(end) == wio_cache_page_behind(size);
}

bool wio_journal_is_length_alone(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    uint64_t end = op->offset + op->size;
    return end > file->size && is_within(file->sent_size, end) &&
           op->offset / WIO_CACHE_PAGE == (end - 1) / WIO_CACHE_PAGE;
}

static double inode_bytes(const struct wio_model_params *p)
{
    return fmin(p->commit_bytes, INODE_BLOCKS * WIO_CACHE_PAGE);
}

double wio_journal_bytes(const struct wio_cache *cache, const struct wio_cache_file *file,
                         const struct wio_model_op *op)
{
    const struct wio_model_params *p = &file->device->params;
    uint64_t end = op->offset + op->size;
    bool grows = op->method == WIO_MODEL_SYNC && end > file->size;
    if (grows && !is_within(file->sent_size, end)) {
        return p->commit_bytes;
    }
    return grows || is_stamped_anew(cache, file, op) ? inode_bytes(p) : 0;
}

/* A limit that counts by slices lets bytes pass at once, or keeps them waiting (rule 14). */
static double pass_s(const struct wio_model_params *p, double bytes)
{
    return bytes / (p->slice > 0 ? fmax(p->bw_burst, p->bw_dev) : p->bw_dev);
}

/* What an fsync takes that finds nothing to write: the device empties its cache all the same. */
static double flush_s(const struct wio_model_params *p)
{
    return p->c_flush > 0 ? p->c_flush : p->sc_sw;
}

/* What a synchronous write takes beside its data. */
static double beside_data(const struct wio_model_params *p, struct wio_model_point point)
{
    return fmax(point.seconds - pass_s(p, point.bytes) - point.bytes / p->bw_ramdisk, flush_s(p));
}

/* What an fsync takes beside the data: as a synchronous write of one block does. The journal has to
 * take in the length of a file that has grown; where nothing changed only the device is asked to
 * empty its cache (rule 11). */
static double commit_cost(const struct wio_model_params *p, bool has_grown, bool has_changed)
{
    const struct wio_model_table *table =
        has_grown && p->append_table.count > 0 ? &p->append_table : &p->sync_table;
    if (table->count == 0 || !has_changed) {
        return has_changed ? p->sc_sw : flush_s(p);
    }
    return beside_data(p, table->points[0]);
}

/* Where the file needs no new blocks. */
static double length_cost(const struct wio_model_params *p)
{
    return p->c_length > 0 ? beside_data(p, (struct wio_model_point){WIO_CACHE_PAGE, p->c_length})
                           : commit_cost(p, true, true);
}

/* The data, then the journal: where it is known what a commit writes, tasks share commits. */
static void add_sync(struct wio_task *task, const struct wio_cache_file *file,
                     const struct wio_task_step *commit, double alone_s)
{
    const struct wio_model_params *p = &file->device->params;
    if (p->commit_bytes == 0) {
        wio_task_add(task, (struct wio_task_step){
                               .kind = WIO_TASK_WAIT, .seconds = alone_s, .is_idle = true});
    }
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_SYNC, .is_all = commit->is_all});
    if (p->commit_bytes > 0) {
        struct wio_task_step step = *commit;
        step.kind = WIO_TASK_COMMIT;
        step.seconds = fmax(commit_cost(p, true, true) - pass_s(p, p->commit_bytes), 0);
        step.device_s = p->commit_bytes / p->bw_dev;
        double length_s = fmax(length_cost(p), commit->clean_s);
        step.inode_s = fmax(length_s - pass_s(p, inode_bytes(p)), 0);
        step.inode_device_s = inode_bytes(p) / p->bw_dev;
        wio_task_add(task, step);
    }
}

void wio_journal_fsync(struct wio_task *task, struct wio_cache_file *file, bool is_data)
{
    const struct wio_model_params *p = &file->device->params;
    bool has_grown = file->size > file->safe_size;
    bool has_changed = has_grown || !wio_cache_is_clean(file);
    const struct wio_task_step commit = {.clean_s = commit_cost(p, false, has_changed),
                                         .is_data = is_data};
    add_sync(task, file, &commit,
             is_within(file->safe_size, file->size) ? length_cost(p)
                                                    : commit_cost(p, has_grown, has_changed));
    file->safe_size = file->size;
}

void wio_journal_syncfs(struct wio_task *task, struct wio_cache_file *file)
{
    const struct wio_cache_device *device = file->device;
    /* some file or other has grown where anything is dirty */
    bool has_changed = device->dirty_pages > 0 || device->queue.waiting > 0;
    const struct wio_task_step commit = {
        .clean_s = commit_cost(&device->params, false, has_changed), .is_all = true};
    add_sync(task, file, &commit, commit_cost(&device->params, has_changed, has_changed));
    file->safe_size = file->size;
}

void wio_journal_note_time(const struct wio_cache *cache, struct wio_cache_file *file,
                           bool is_committed)
{
    int64_t tick = wio_cache_jiffy(cache);
    if (is_committed) {
        file->timed_s = -1;
    } else if (tick != file->tick) {
        file->timed_s = file->device->changed_s = cache->time_s;
    }
    file->tick = tick;
}
