/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/buffers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"

/* What O_DIRECT asks of memory, on any device. */
#define ALIGNMENT 4096
#define HUGE_PAGE (UINT64_C(2) << 20)

/* Devices and file systems that compress must find nothing to compress. */
static void fill(uint8_t *data, size_t bytes)
{
    uint64_t state = 1;
    for (size_t i = 0; i < bytes; i += sizeof(state)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(data + i, &state, sizeof(state));
    }
}

static enum wio_status make_data(uint64_t alignment, uint64_t bytes, uint8_t **data_out,
                                 struct wio_error *err)
{
    void *data = NULL;
    if (posix_memalign(&data, alignment, bytes) != 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    if (alignment == HUGE_PAGE) {
        (void)madvise(data, bytes, MADV_HUGEPAGE); /* an advice */
    }
    fill(data, bytes);
    *data_out = data;
    return WIO_OK;
}

enum wio_status wio_buffers_init(struct wio_buffers *buffers, struct wio_error *err)
{
    *buffers = (struct wio_buffers){0};
    return make_data(ALIGNMENT, WIO_RIG_IO_MOST, &buffers->data, err);
}

void wio_buffers_fini(struct wio_buffers *buffers)
{
    free(buffers->source);
    free(buffers->huge);
    free(buffers->data);
    *buffers = (struct wio_buffers){0};
}

/* The old one is freed last: else its pages come back. */
enum wio_status wio_buffers_renew(struct wio_buffers *buffers, uint64_t bytes,
                                  struct wio_error *err)
{
    uint8_t *source = NULL;
    uint64_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    WIO_TRY(make_data(ALIGNMENT, whole, &source, err));
    free(buffers->source);
    buffers->source = source;
    buffers->source_bytes = whole;
    return WIO_OK;
}

enum wio_status wio_buffers_source(struct wio_buffers *buffers, const struct wio_rig_io *io,
                                   const uint8_t **data_out, struct wio_error *err)
{
    if (io->from_huge && buffers->huge == NULL) {
        WIO_TRY(make_data(HUGE_PAGE, WIO_RIG_IO_MOST, &buffers->huge, err));
    }
    const uint8_t *ordinary = io->size <= buffers->source_bytes ? buffers->source : buffers->data;
    *data_out = io->from_huge ? buffers->huge : ordinary;
    return WIO_OK;
}
