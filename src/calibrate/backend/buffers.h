/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is written from and read to. */
#ifndef WIO_CALIBRATE_BACKEND_BUFFERS_H
#define WIO_CALIBRATE_BACKEND_BUFFERS_H

#include <stdint.h>

#include <whyio/status.h>

#include "calibrate/backend/backend.h"

/* All zero: nothing is there. */
struct wio_buffers {
    uint8_t *data;   /* WIO_RIG_IO_MOST bytes that do not repeat */
    uint8_t *huge;   /* the same; NULL: not needed yet */
    uint8_t *source; /* of writes; NULL: data */
    uint64_t source_bytes;
};

/* Call wio_buffers_fini also after a failure. All: WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_buffers_init(struct wio_buffers *buffers, struct wio_error *err);
void wio_buffers_fini(struct wio_buffers *buffers);
/* Writes of up to so many bytes come out of other memory from now on. */
WIO_MUST_CHECK enum wio_status wio_buffers_renew(struct wio_buffers *buffers, uint64_t bytes,
                                                 struct wio_error *err);
/* Where the bytes of a write come from. */
WIO_MUST_CHECK enum wio_status wio_buffers_source(struct wio_buffers *buffers,
                                                  const struct wio_rig_io *io,
                                                  const uint8_t **data_out, struct wio_error *err);

#endif
