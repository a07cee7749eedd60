/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment of the store's redo log: header, records, the changes in them. Whatever the bytes are,
 * the records that are delivered have rising numbers and lie within the bytes, and an error says
 * why.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "store/log/redo_scan.h"
#include "store/storage/redo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

struct seen {
    const uint8_t *data;
    size_t size;
    uint64_t last_lsn;
};

static void try_changes(const struct wio_log_record *record)
{
    struct wio_buf buf = wio_buf_of(record->redo, record->redo_bytes);
    struct wio_redo_change change;
    while (wio_change_decode(&buf, &change) == WIO_OK) {
        require(change.kind != 0 && change.kind < WIO_CHANGE_KINDS);
        require(change.bytes <= record->redo_bytes);
        if (change.bytes > 0) {
            const volatile uint8_t *bytes = change.data;
            (void)bytes[change.bytes - 1];
        }
    }
}

static enum wio_status visit(void *context, uint64_t lsn, const struct wio_log_record *record,
                             struct wio_error *err)
{
    struct seen *seen = context;
    const uint8_t *redo = record->redo;
    (void)err;
    require(lsn > seen->last_lsn);
    require(record->kind != 0 && record->kind < WIO_LOG_KINDS && record->kind != WIO_LOG_EPOCH);
    require(redo >= seen->data && redo + record->redo_bytes <= seen->data + seen->size);
    seen->last_lsn = lsn;
    try_changes(record);
    return WIO_OK;
}

static void scan(const uint8_t *data, size_t size)
{
    struct redo_segment_header header = {.first_lsn = 1};
    struct wio_error err = WIO_ERROR_INIT;
    struct seen seen = {data, size, 0};
    (void)redo_segment_header_decode(data, size, &header);
    struct redo_position position = {header.first_lsn, header.epoch, 0};
    enum wio_status status =
        redo_scan_bytes(data, size, "segment", &position, 0, visit, &seen, &err);
    require(position.offset <= size);
    require(status == WIO_OK || err.message[0] != '\0');
}

/* Give all that looks like a record the checksum that it should have: what is behind is tried, too.
 */
static void repair(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + REDO_HEADER_BYTES <= size; at += REDO_ALIGN) {
        uint32_t bytes = 0;
        memcpy(&bytes, data + at + 28, sizeof(bytes));
        if (memcmp(data + at, "RECO", 4) == 0 && bytes >= REDO_HEADER_BYTES && bytes <= size - at) {
            uint32_t crc = wio_crc32c(0, data + at + 8, bytes - 8);
            memcpy(data + at + 4, &crc, sizeof(crc));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = calloc(1, size + 1); /* records are at multiples of 8 of it */
    require(copy != NULL);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    scan(copy, size);
    repair(copy, size);
    scan(copy, size);
    free(copy);
    return 0;
}
