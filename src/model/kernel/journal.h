/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a file system, as far as tasks wait for it: what is synchronous ends when it has
 * taken in the new lengths and blocks of files (docs/MODEL.md#kernel, rule 11).
 */
#ifndef WIO_MODEL_KERNEL_JOURNAL_H
#define WIO_MODEL_KERNEL_JOURNAL_H

#include "model/kernel/cache.h"
#include "model/kernel/task.h"
#include "model/model.h"

/* The steps of an fsync (`is_data`: of an fdatasync), and of a sync of all that is on the file's
 * device. */
void wio_journal_fsync(struct wio_task *task, struct wio_cache_file *file, bool is_data);
void wio_journal_syncfs(struct wio_task *task, struct wio_cache_file *file);

/* Does a write make the file longer within its last block, which the device has, and write nothing
 * else? */
bool wio_journal_is_length_alone(const struct wio_cache_file *file, const struct wio_model_op *op);

/* O_SYNC does, O_DSYNC does not. */
bool wio_journal_commits_time(const struct wio_model_op *op);

/* A write begins, which changes the file's time, once in a tick of the kernel's clock; one that is
 * synchronous commits that, and what writes before it changed. */
void wio_journal_note_time(const struct wio_cache *cache, struct wio_cache_file *file,
                           bool is_committed);

/* What it writes for a direct or synchronous write, which may make the file longer: bytes. */
double wio_journal_bytes(const struct wio_cache *cache, const struct wio_cache_file *file,
                         const struct wio_model_op *op);

#endif
