/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moving data into memory and out of it costs: pages that are new in memory have to be found,
 * clean ones to be noted as dirty, dirty ones are only copied to.
 *
 * Source: behaviour of mm/filemap.c and fs/buffer.c; docs/MODEL.md#kernel, rules 2 and 15.
 */
#ifndef WIO_MODEL_COST_COPY_COST_H
#define WIO_MODEL_COST_COPY_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

/* A write into one folio. */
struct wio_copy {
    uint64_t size;   /* bytes that are written */
    uint64_t fresh;  /* bytes of the pages that were not dirty */
    uint64_t absent; /* bytes of the pages that were not in memory */
    uint64_t folio;  /* pages of the file's largest folio in memory */
    uint64_t within; /* bytes that the whole write has in this folio of the file */
    uint64_t far;    /* bytes that are more than a processor's own cache holds of the buffer */
    bool goes_on;    /* in the folio of the file that the piece before was in */
    bool is_writing; /* the device writes back meanwhile */
};

/* Seconds, without the call. */
double wio_copy_in_s(const struct wio_model_params *params, const struct wio_copy *copy);
/* `folio`: bytes of the file's largest folio in memory, 0: not known. */
double wio_copy_out_s(const struct wio_model_params *params, uint64_t size, uint64_t folio,
                      uint64_t far);

/* Of the next `size` bytes of a call, of which `left` have yet to be moved: those that are more
 * than a processor's own cache holds of its buffer. */
uint64_t wio_copy_far(const struct wio_model_params *params, uint64_t size, uint64_t left);

/* One write(2), besides; one read(2). */
double wio_copy_call_s(const struct wio_model_params *params);
double wio_copy_read_s(const struct wio_model_params *params);

#endif
