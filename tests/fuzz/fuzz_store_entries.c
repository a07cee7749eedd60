/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What servers answer with, which a client turns into names of files, addresses and statistics:
 * names lead nowhere else, and what is read is written to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/wire/entries.h"
#include "store/wire/job_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void read_entries(const uint8_t *data, size_t size)
{
    struct wio_buf all = wio_buf_of(data, size);
    struct wio_wire_entry entry;
    size_t from = 0;
    while (wio_wire_get_entry(&all, &entry) == WIO_OK) {
        struct wio_blob out = {0};
        require(entry.name_size > 0 && memchr(entry.name, '/', entry.name_size) == NULL);
        require(wio_wire_put_entry(&out, &entry) == WIO_OK);
        require(out.size == all.pos - from && memcmp(out.data, data + from, out.size) == 0);
        wio_blob_fini(&out);
        from = all.pos;
    }
}

static void read_targets(const uint8_t *data, size_t size)
{
    const char *addresses[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_blob out = {0};
    uint16_t count = 0;
    if (wio_wire_get_targets(data, size, addresses, &count) == WIO_OK) {
        require(wio_wire_put_targets(&out, addresses, count) == WIO_OK);
        require(out.size == size && memcmp(out.data, data, size) == 0);
        wio_blob_fini(&out);
    }
}

static void read_job_rows(const uint8_t *data, size_t size)
{
    struct wio_buf all = wio_buf_of(data, size);
    struct wio_wire_job_row row;
    enum wio_status status = WIO_OK;
    size_t from = 0;
    while (status == WIO_OK && wio_wire_get_job_row(&all, &row) == WIO_OK) {
        struct wio_blob out = {0};
        require(wio_wire_put_job_row(&out, &row) == WIO_OK);
        for (unsigned i = 0; i < row.counters && status == WIO_OK; i++) {
            struct wio_wire_job_counter counter;
            status = wio_wire_get_job_counter(&all, &counter);
            require(status != WIO_OK || wio_wire_put_job_counter(&out, &counter) == WIO_OK);
        }
        require(status != WIO_OK ||
                (out.size == all.pos - from && memcmp(out.data, data + from, out.size) == 0));
        wio_blob_fini(&out);
        from = all.pos;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_entries(data, size);
    read_targets(data, size);
    read_job_rows(data, size);
    return 0;
}
