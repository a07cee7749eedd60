/* SPDX-License-Identifier: Apache-2.0 */
/* A machine whose device has a journal, for tests of what an fsync waits for beside the data. */
#ifndef WIO_TESTS_MODEL_JOURNAL_MACHINE_H
#define WIO_TESTS_MODEL_JOURNAL_MACHINE_H

#include "machine.h"

#define COMMIT 0.01       /* s: of the device */
#define INODE_BYTES 12288 /* of a commit that has no more than the file's time or length */

static inline struct wio_model_params with_journal(void)
{
    struct wio_model_params params = machine();
    params.sc_sw = 0;
    params.sc_w = params.c_sk = 0;
    params.bw_ramdisk = params.bw_mem = 1e15;
    params.commit_bytes = COMMIT * params.bw_dev;
    return params;
}

/* As measured: writes of 4 KiB take so long where they make the file longer, and elsewhere. */
static inline void add_tables(struct wio_model_params *params)
{
    params->append_table = (struct wio_model_table){.count = 1, .points = {{4096, 0.02}}};
    params->sync_table = (struct wio_model_table){.count = 1, .points = {{4096, 0.01}}};
}

static inline void write_file(struct wio_model *model, uint64_t file)
{
    (void)step(model, (struct wio_model_op){.file = file, .size = MIB_BYTES});
}

/* But for its time. */
static inline struct wio_model_op sync_of(uint64_t file)
{
    return (struct wio_model_op){.file = file, .method = WIO_MODEL_FDATASYNC};
}

static inline double page_and_sync(struct wio_model *model, uint64_t page)
{
    (void)step(model, (struct wio_model_op){.file = 1, .offset = page * 4096, .size = 4096});
    return step(model, sync_of(1)).cost_s;
}

#endif
