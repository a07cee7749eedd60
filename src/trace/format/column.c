/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/column.h"

#include <stdbool.h>

#include "base/cleanup.h"
#include "trace/format/format.h"

/* What each encoding would cost, in bytes before compression. */
struct costs {
    size_t varint;
    size_t runs;
    size_t planes;
    unsigned plane_count;
};

/* Seven bits in each: 9/64 is 1/7 as exactly as up to 63 bits need. */
static size_t varint_bytes(uint64_t value)
{
    return ((size_t)(63 - __builtin_clzll(value | 1)) * 9 + 73) / 64;
}

static unsigned plane_count(uint64_t bits)
{
    return (unsigned)(63 - __builtin_clzll(bits | 1)) / 8 + 1;
}

/* Most columns of most blocks: worth a look of its own. */
static bool is_constant(const int64_t *values, size_t count)
{
    size_t i = 1;
    while (i < count && values[i] == values[0]) {
        i++;
    }
    return i >= count;
}

/* Run by run: a value is measured once. */
static void measure(const int64_t *values, size_t count, struct costs *costs)
{
    uint64_t bits = 0;
    *costs = (struct costs){0};
    for (size_t i = 0; i < count;) {
        const int64_t value = values[i];
        const size_t begin = i;
        while (i < count && values[i] == value) {
            i++;
        }
        const uint64_t zigzag = wio_zigzag(value);
        const size_t bytes = varint_bytes(zigzag);
        bits |= zigzag;
        costs->varint += bytes * (i - begin);
        costs->runs += varint_bytes(i - begin) + bytes;
    }
    costs->plane_count = plane_count(bits);
    costs->planes = 1 + count * costs->plane_count;
}

static enum wio_status put_varints(const int64_t *values, size_t count, struct wio_blob *out)
{
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(wio_blob_svarint(out, values[i]));
    }
    return WIO_OK;
}

static enum wio_status put_runs(const int64_t *values, size_t count, struct wio_blob *out)
{
    size_t run = 0;
    for (size_t i = 0; i < count; i++) {
        run++;
        if (i + 1 == count || values[i + 1] != values[i]) {
            WIO_TRY(wio_blob_varint(out, run));
            WIO_TRY(wio_blob_svarint(out, values[i]));
            run = 0;
        }
    }
    return WIO_OK;
}

static void split_plane(const int64_t *values, size_t count, unsigned plane, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = (uint8_t)(wio_zigzag(values[i]) >> (8 * plane));
    }
}

/* Two at a time: the value is loaded once. */
static void split_planes(const int64_t *values, size_t count, unsigned plane, uint8_t *low,
                         uint8_t *high)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = wio_zigzag(values[i]) >> (8 * plane);
        low[i] = (uint8_t)bits;
        high[i] = (uint8_t)(bits >> 8);
    }
}

static enum wio_status put_planes(const int64_t *values, size_t count, unsigned planes,
                                  struct wio_blob *out)
{
    WIO_TRY(wio_blob_u8(out, (uint8_t)planes));
    WIO_TRY(wio_blob_reserve(out, count * planes));
    uint8_t *to = out->data + out->size;
    unsigned plane = 0;
    for (; plane + 1 < planes; plane += 2) {
        split_planes(values, count, plane, to + plane * count, to + (plane + 1) * count);
    }
    if (plane < planes) {
        split_plane(values, count, plane, to + plane * count);
    }
    out->size += count * planes;
    return WIO_OK;
}

/*
 * Planes compress best and read fastest, so others must be clearly smaller: the factors are from
 * measurements with recorded programs.
 */
enum wio_status wio_column_encode(const int64_t *values, size_t count, struct wio_blob *out,
                                  uint8_t *encoding_out)
{
    struct costs costs;
    if (is_constant(values, count)) {
        *encoding_out = WIO_ENCODING_CONST;
        return wio_blob_svarint(out, values[0]);
    }
    measure(values, count, &costs);
    if (costs.runs * 4 <= costs.planes && costs.runs <= costs.varint) {
        *encoding_out = WIO_ENCODING_RUNS;
        return put_runs(values, count, out);
    }
    if (costs.varint * 3 <= costs.planes) {
        *encoding_out = WIO_ENCODING_VARINT;
        return put_varints(values, count, out);
    }
    *encoding_out = WIO_ENCODING_PLANES;
    return put_planes(values, count, costs.plane_count, out);
}

void wio_column_zero(struct wio_column_reader *column)
{
    *column = (struct wio_column_reader){.encoding = WIO_ENCODING_CONST};
}

static enum wio_status open_planes(struct wio_column_reader *column, const uint8_t *bytes,
                                   size_t size)
{
    if (size < 1) {
        return WIO_ERR_TRUNCATED;
    }
    column->planes = bytes[0];
    if (column->planes < 1 || column->planes > 8 || (size - 1) % column->planes != 0) {
        return WIO_ERR_FORMAT;
    }
    column->stride = (size - 1) / column->planes;
    return WIO_OK;
}

enum wio_status wio_column_open(struct wio_column_reader *column, uint8_t encoding,
                                const uint8_t *bytes, size_t size)
{
    *column = (struct wio_column_reader){.encoding = encoding, .buf = wio_buf_of(bytes, size)};
    switch (encoding) {
    case WIO_ENCODING_CONST:
        WIO_TRY(wio_buf_svarint(&column->buf, &column->value));
        return wio_buf_left(&column->buf) == 0 ? WIO_OK : WIO_ERR_FORMAT;
    case WIO_ENCODING_PLANES:
        return open_planes(column, bytes, size);
    case WIO_ENCODING_VARINT:
    case WIO_ENCODING_RUNS:
        return WIO_OK;
    default:
        return WIO_ERR_UNSUPPORTED;
    }
}

/* One loop per number of planes, so that the compiler can use vectors. */
static void join_planes(const uint8_t *low, size_t stride, unsigned planes, int64_t *values,
                        size_t count)
{
    const uint8_t *second = low + stride;
    const uint8_t *third = low + 2 * stride;
    switch (planes) {
    case 1:
        for (size_t i = 0; i < count; i++) {
            values[i] = wio_unzigzag(low[i]);
        }
        return;
    case 2:
        for (size_t i = 0; i < count; i++) {
            values[i] = wio_unzigzag((uint64_t)low[i] | (uint64_t)second[i] << 8);
        }
        return;
    case 3:
        for (size_t i = 0; i < count; i++) {
            values[i] = wio_unzigzag((uint64_t)low[i] | (uint64_t)second[i] << 8 |
                                     (uint64_t)third[i] << 16);
        }
        return;
    default:
        break;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = low[i];
    }
    for (unsigned plane = 1; plane < planes; plane++) {
        const uint8_t *from = low + plane * stride;
        for (size_t i = 0; i < count; i++) {
            values[i] = (int64_t)((uint64_t)values[i] | (uint64_t)from[i] << (8 * plane));
        }
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = wio_unzigzag((uint64_t)values[i]);
    }
}

static enum wio_status read_planes(struct wio_column_reader *column, int64_t *values, size_t count)
{
    if (count > column->stride - column->next) {
        return WIO_ERR_TRUNCATED;
    }
    join_planes(column->buf.data + 1 + column->next, column->stride, column->planes, values, count);
    column->next += count;
    return WIO_OK;
}

static enum wio_status read_runs(struct wio_column_reader *column, int64_t *values, size_t count)
{
    size_t done = 0;
    while (done < count) {
        if (column->run_left == 0) {
            WIO_TRY(wio_buf_varint(&column->buf, &column->run_left));
            WIO_TRY(wio_buf_svarint(&column->buf, &column->value));
            if (column->run_left == 0) {
                return WIO_ERR_FORMAT;
            }
        }
        size_t take = count - done;
        take = take < column->run_left ? take : (size_t)column->run_left;
        for (size_t i = 0; i < take; i++) {
            values[done + i] = column->value;
        }
        done += take;
        column->run_left -= take;
    }
    return WIO_OK;
}

enum wio_status wio_column_read(struct wio_column_reader *column, int64_t *values, size_t count)
{
    switch (column->encoding) {
    case WIO_ENCODING_PLANES:
        return read_planes(column, values, count);
    case WIO_ENCODING_RUNS:
        return read_runs(column, values, count);
    case WIO_ENCODING_VARINT:
        for (size_t i = 0; i < count; i++) {
            WIO_TRY(wio_buf_svarint(&column->buf, &values[i]));
        }
        return WIO_OK;
    default:
        for (size_t i = 0; i < count; i++) {
            values[i] = column->value;
        }
        return WIO_OK;
    }
}

int wio_column_at_end(const struct wio_column_reader *column)
{
    switch (column->encoding) {
    case WIO_ENCODING_PLANES:
        return column->next == column->stride;
    case WIO_ENCODING_RUNS:
        return column->run_left == 0 && wio_buf_left(&column->buf) == 0;
    case WIO_ENCODING_VARINT:
        return wio_buf_left(&column->buf) == 0;
    default:
        return 1;
    }
}
