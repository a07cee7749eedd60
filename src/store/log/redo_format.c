/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/redo_format.h"

#include <endian.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "participants are lent as they lie");

static const char segment_magic[8] = "WIOREDO\n";
static const char super_magic[8] = "WIOSUPR\n";
enum {
    RECORD_MAGIC = 0x4f434552, /* "RECO" */
    SEGMENT_CRC_AT = 40,
    SUPER_CRC_AT = 40,
    RECORD_CRC_AT = 4,
    RECORD_LSN_AT = 8,
    RECORD_DURABLE_AT = 16,
    RECORD_SIZE_AT = 28
};

static void put_u32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof(value));
}

static void put_u64(uint8_t *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof(value));
}

static uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return le32toh(value);
}

/* R-LOG-2 */
void redo_segment_header_encode(const struct redo_segment_header *header, uint8_t block[REDO_BLOCK])
{
    memset(block, 0, REDO_BLOCK);
    memcpy(block, segment_magic, sizeof(segment_magic));
    put_u32(block + 8, REDO_VERSION);
    put_u32(block + 12, header->epoch);
    put_u64(block + 16, header->seq);
    put_u64(block + 24, header->first_lsn);
    put_u64(block + 32, header->segment_bytes);
    put_u32(block + SEGMENT_CRC_AT, wio_crc32c(0, block, SEGMENT_CRC_AT));
}

/* Magic, version and checksum of a block's front; *buf_out stands behind the version. */
static bool block_begin(const uint8_t *data, size_t size, const char magic[8], size_t crc_at,
                        struct wio_buf *buf_out)
{
    uint32_t version = 0;
    *buf_out = wio_buf_of(data, size);
    buf_out->pos = 8;
    return size >= crc_at + 4 && memcmp(data, magic, 8) == 0 &&
           get_u32(data + crc_at) == wio_crc32c(0, data, crc_at) &&
           wio_buf_u32(buf_out, &version) == WIO_OK && version == REDO_VERSION;
}

static bool is_segment_size(uint64_t bytes)
{
    return bytes >= WIO_LOG_SEGMENT_MIN && bytes % REDO_BLOCK == 0 && bytes <= (UINT64_C(1) << 32);
}

bool redo_segment_header_decode(const uint8_t *data, size_t size,
                                struct redo_segment_header *header_out)
{
    struct wio_buf buf;
    return block_begin(data, size, segment_magic, SEGMENT_CRC_AT, &buf) &&
           wio_buf_u32(&buf, &header_out->epoch) == WIO_OK &&
           wio_buf_u64(&buf, &header_out->seq) == WIO_OK &&
           wio_buf_u64(&buf, &header_out->first_lsn) == WIO_OK &&
           wio_buf_u64(&buf, &header_out->segment_bytes) == WIO_OK &&
           is_segment_size(header_out->segment_bytes);
}

/* R-LOG-6 */
void redo_super_encode(const struct redo_super *super, uint8_t block[REDO_BLOCK])
{
    memset(block, 0, REDO_BLOCK);
    memcpy(block, super_magic, sizeof(super_magic));
    put_u32(block + 8, REDO_VERSION);
    put_u64(block + 16, super->generation);
    put_u64(block + 24, super->redo_from);
    put_u64(block + 32, super->segment_bytes);
    put_u32(block + SUPER_CRC_AT, wio_crc32c(0, block, SUPER_CRC_AT));
}

bool redo_super_decode(const uint8_t *data, size_t size, struct redo_super *super_out)
{
    struct wio_buf buf;
    uint32_t reserved = 0;
    return block_begin(data, size, super_magic, SUPER_CRC_AT, &buf) &&
           wio_buf_u32(&buf, &reserved) == WIO_OK &&
           wio_buf_u64(&buf, &super_out->generation) == WIO_OK &&
           wio_buf_u64(&buf, &super_out->redo_from) == WIO_OK &&
           wio_buf_u64(&buf, &super_out->segment_bytes) == WIO_OK &&
           is_segment_size(super_out->segment_bytes);
}

/* Header and participants: where the redo begins. */
static size_t redo_at(uint16_t participant_count)
{
    return REDO_HEADER_BYTES + (size_t)redo_align(participant_count * sizeof(uint16_t), REDO_ALIGN);
}

size_t redo_record_bytes(const struct wio_log_record *record)
{
    return (size_t)redo_align(redo_at(record->participant_count) + record->redo_bytes, REDO_ALIGN);
}

/* R-LOG-3 */
enum wio_status redo_record_encode(struct wio_blob *blob, uint64_t lsn, uint32_t epoch,
                                   const struct wio_log_record *record)
{
    size_t padded = redo_record_bytes(record);
    WIO_TRY(wio_blob_reserve(blob, padded));
    uint8_t *at = blob->data + blob->size;
    memset(at, 0, redo_at(record->participant_count));
    put_u32(at, RECORD_MAGIC);
    put_u64(at + RECORD_LSN_AT, lsn);
    put_u32(at + 24, epoch);
    put_u32(at + RECORD_SIZE_AT,
            (uint32_t)(redo_at(record->participant_count) + record->redo_bytes));
    put_u64(at + 32, record->txn.client);
    put_u64(at + 40, record->txn.number);
    put_u64(at + 48, record->txn.birth_ns);
    put_u32(at + 56, record->txn.attempt);
    put_u32(at + 60, (uint32_t)record->kind | (uint32_t)record->participant_count << 16);
    for (size_t i = 0; i < record->participant_count; i++) {
        at[REDO_HEADER_BYTES + 2 * i] = (uint8_t)record->participants[i];
        at[REDO_HEADER_BYTES + 2 * i + 1] = (uint8_t)(record->participants[i] >> 8);
    }
    size_t from = redo_at(record->participant_count);
    if (record->redo_bytes > 0) {
        memcpy(at + from, record->redo, record->redo_bytes);
    }
    memset(at + from + record->redo_bytes, 0, padded - from - record->redo_bytes);
    blob->size += padded;
    return WIO_OK;
}

size_t redo_record_finish(uint8_t *at, uint64_t durable_lsn)
{
    size_t size = get_u32(at + RECORD_SIZE_AT);
    put_u64(at + RECORD_DURABLE_AT, durable_lsn);
    put_u32(at + RECORD_CRC_AT, wio_crc32c(0, at + RECORD_LSN_AT, size - RECORD_LSN_AT));
    return (size_t)redo_align(size, REDO_ALIGN);
}

/* The fields behind the checksum; `buf` is exactly the record. */
static enum wio_status take_fields(struct wio_buf *buf, struct redo_stamp *stamp,
                                   struct wio_log_record *record)
{
    uint32_t size = 0;
    WIO_TRY(wio_buf_u64(buf, &stamp->lsn));
    WIO_TRY(wio_buf_u64(buf, &stamp->durable_lsn));
    WIO_TRY(wio_buf_u32(buf, &stamp->epoch));
    WIO_TRY(wio_buf_u32(buf, &size));
    WIO_TRY(wio_buf_u64(buf, &record->txn.client));
    WIO_TRY(wio_buf_u64(buf, &record->txn.number));
    WIO_TRY(wio_buf_u64(buf, &record->txn.birth_ns));
    WIO_TRY(wio_buf_u32(buf, &record->txn.attempt));
    WIO_TRY(wio_buf_u16(buf, &record->kind));
    WIO_TRY(wio_buf_u16(buf, &record->participant_count));
    const uint8_t *bytes = NULL;
    WIO_TRY(wio_buf_bytes(buf, redo_at(record->participant_count) - REDO_HEADER_BYTES, &bytes));
    record->participants = (const uint16_t *)(const void *)bytes;
    record->redo_bytes = (uint32_t)wio_buf_left(buf);
    return wio_buf_bytes(buf, record->redo_bytes, (const uint8_t **)&record->redo);
}

bool redo_record_decode(struct wio_buf *buf, struct redo_stamp *stamp_out,
                        struct wio_log_record *record_out)
{
    const uint8_t *at = buf->data + buf->pos;
    if (wio_buf_left(buf) < REDO_HEADER_BYTES || get_u32(at) != RECORD_MAGIC) {
        return false;
    }
    size_t size = get_u32(at + RECORD_SIZE_AT);
    if (size < REDO_HEADER_BYTES || size > wio_buf_left(buf) ||
        get_u32(at + RECORD_CRC_AT) != wio_crc32c(0, at + RECORD_LSN_AT, size - RECORD_LSN_AT)) {
        return false;
    }
    struct wio_buf record = wio_buf_of(at, size);
    record.pos = RECORD_LSN_AT;
    if (take_fields(&record, stamp_out, record_out) != WIO_OK || record_out->kind == 0 ||
        record_out->kind >= WIO_LOG_KINDS || stamp_out->durable_lsn >= stamp_out->lsn) {
        return false;
    }
    size_t padded = (size_t)redo_align(size, REDO_ALIGN);
    buf->pos += padded < wio_buf_left(buf) ? padded : wio_buf_left(buf);
    return true;
}
