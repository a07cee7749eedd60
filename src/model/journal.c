/* SPDX-License-Identifier: Apache-2.0 */
#include "model/journal.h"

#include <math.h>

double wio_journal_bytes(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    bool grows = op->method == WIO_MODEL_SYNC && op->offset + op->size > file->size;
    return grows ? file->device->params.commit_bytes : 0;
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
    double bytes = table->points[0].bytes;
    return fmax(table->points[0].seconds - pass_s(p, bytes) - bytes / p->bw_ramdisk, flush_s(p));
}

/* The data, then the journal: where it is known what a commit writes, tasks share commits. */
static void add_sync(struct wio_task *task, struct wio_cache_file *file, bool is_all,
                     bool has_grown, bool has_changed)
{
    const struct wio_model_params *p = &file->device->params;
    if (p->commit_bytes == 0) {
        wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_WAIT,
                                                  .seconds = commit_cost(p, has_grown, has_changed),
                                                  .is_idle = true});
    }
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_SYNC, .is_all = is_all});
    if (p->commit_bytes > 0) {
        double rest_s = commit_cost(p, true, true) - pass_s(p, p->commit_bytes);
        wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_COMMIT,
                                                  .seconds = fmax(rest_s, 0),
                                                  .clean_s = commit_cost(p, false, has_changed),
                                                  .device_s = p->commit_bytes / p->bw_dev,
                                                  .is_all = is_all});
    }
    file->safe_size = file->size;
}

void wio_journal_fsync(struct wio_task *task, struct wio_cache_file *file)
{
    bool has_grown = file->size > file->safe_size;
    add_sync(task, file, false, has_grown, has_grown || !wio_cache_is_clean(file));
}

void wio_journal_syncfs(struct wio_task *task, struct wio_cache_file *file)
{
    const struct wio_cache_device *device = file->device;
    /* some file or other has grown where anything is dirty */
    bool has_changed = device->dirty_pages > 0 || device->queue.waiting > 0;
    add_sync(task, file, true, has_changed, has_changed);
}
