/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/edges/edge_rows.h"

#include "base/cleanup.h"

enum coding {
    END,
    PLAIN,  /* as it is */
    RISING, /* difference, never negative */
    SIGNED, /* difference */
    WITHIN, /* RISING while the first number stays; PLAIN where it changed, and in the first row */
};

#define KINDS (WIO_BLOCK_WAITS - WIO_BLOCK_EDGES_IN + 1)

static const unsigned char codings[KINDS][WIO_EDGE_NUMBERS] = {
    {RISING, WITHIN, SIGNED, SIGNED, SIGNED, PLAIN},              /* EDGES_IN */
    {RISING, WITHIN, SIGNED, SIGNED, SIGNED, PLAIN},              /* EDGES_OUT */
    {RISING, WITHIN, PLAIN, SIGNED, SIGNED, PLAIN, PLAIN, PLAIN}, /* MEMBERS */
    {RISING, SIGNED, SIGNED, PLAIN, SIGNED, PLAIN, PLAIN, PLAIN}, /* COLLECTIVES */
    {RISING, WITHIN, PLAIN, PLAIN},                               /* WAITS */
};

/* How the number `i` is coded in a row whose first number has changed or not. */
static enum coding coding_of(enum wio_block_kind kind, unsigned i, bool is_new)
{
    enum coding coding = codings[kind - WIO_BLOCK_EDGES_IN][i];
    if (coding == WITHIN) {
        return is_new ? PLAIN : RISING;
    }
    return coding;
}

enum wio_status wio_edge_numbers_put(struct wio_blob *out, enum wio_block_kind kind, bool is_first,
                                     const struct wio_edge_numbers *before,
                                     const struct wio_edge_numbers *now)
{
    bool is_new = is_first || now->at[0] != before->at[0];
    for (unsigned i = 0; i < WIO_EDGE_NUMBERS; i++) {
        enum coding coding = coding_of(kind, i, is_new);
        if (coding == END) {
            break;
        }
        uint64_t base = coding == PLAIN ? 0 : before->at[i];
        uint64_t value = now->at[i] - base;
        value = coding == SIGNED ? wio_zigzag((int64_t)value) : value;
        WIO_TRY(wio_blob_varint(out, value));
    }
    return WIO_OK;
}

enum wio_status wio_edge_numbers_get(struct wio_buf *buf, enum wio_block_kind kind, bool is_first,
                                     struct wio_edge_numbers *row)
{
    bool is_new = is_first;
    for (unsigned i = 0; i < WIO_EDGE_NUMBERS; i++) {
        enum coding coding = coding_of(kind, i, is_new);
        if (coding == END) {
            break;
        }
        uint64_t value = 0;
        WIO_TRY(wio_buf_varint(buf, &value));
        if (coding == RISING && row->at[i] + value < value) {
            return WIO_ERR_FORMAT;
        }
        is_new = is_new || (i == 0 && value != 0);
        value = coding == SIGNED ? (uint64_t)wio_unzigzag(value) : value;
        row->at[i] = coding == PLAIN ? value : row->at[i] + value;
    }
    return WIO_OK;
}

bool wio_edge_numbers_ordered(const struct wio_edge_numbers *a, const struct wio_edge_numbers *b)
{
    return a->at[0] != b->at[0] ? a->at[0] < b->at[0] : a->at[1] <= b->at[1];
}

struct wio_edge_numbers wio_edge_numbers_of_edge(enum wio_block_kind kind,
                                                 const struct wio_edge_row *row)
{
    const struct wio_edge_point *own = kind == WIO_BLOCK_EDGES_IN ? &row->to : &row->from;
    const struct wio_edge_point *other = kind == WIO_BLOCK_EDGES_IN ? &row->from : &row->to;
    return (struct wio_edge_numbers){
        {own->stream, own->seq, other->stream, other->seq, row->object,
         row->edge_class | (row->is_implied ? 4u : 0u) | (unsigned)row->evidence << 3}};
}

static uint64_t role_of(const struct wio_member_row *row)
{
    return (row->gives ? 1u : 0u) | (row->takes ? 2u : 0u) | (unsigned)row->evidence << 2;
}

struct wio_edge_numbers wio_edge_numbers_of_member(enum wio_block_kind kind,
                                                   const struct wio_member_row *row)
{
    uint64_t length = row->leave_seq - row->enter_seq;
    if (kind == WIO_BLOCK_MEMBERS) {
        return (struct wio_edge_numbers){{row->stream, row->enter_seq, length, row->collective,
                                          row->object, row->members, row->givers, role_of(row)}};
    }
    return (struct wio_edge_numbers){{row->collective, row->stream, row->enter_seq, length,
                                      row->object, row->members, row->givers, role_of(row)}};
}

struct wio_edge_numbers wio_edge_numbers_of_wait(const struct wio_wait_row *row)
{
    return (struct wio_edge_numbers){
        {row->stream, row->first_seq, row->last_seq - row->first_seq, row->looks}};
}

/* R-EDGE-5: class, implied and evidence in one number. */
bool wio_edge_of_numbers(enum wio_block_kind kind, const struct wio_edge_numbers *numbers,
                         const struct wio_edge_bounds *bounds, struct wio_edge_row *row_out)
{
    const uint64_t *at = numbers->at;
    uint64_t evidence = at[5] >> 3;
    if (at[0] >= bounds->streams || at[2] >= bounds->streams || at[4] > bounds->objects ||
        evidence >= WIO_EVIDENCE_COUNT || (at[5] & 3) == WIO_EDGE_COLLECTIVE) {
        return false;
    }
    const struct wio_edge_point own = {at[1], (uint32_t)at[0]};
    const struct wio_edge_point other = {at[3], (uint32_t)at[2]};
    *row_out = (struct wio_edge_row){
        .from = kind == WIO_BLOCK_EDGES_IN ? other : own,
        .to = kind == WIO_BLOCK_EDGES_IN ? own : other,
        .object = (uint32_t)at[4],
        .edge_class = at[5] & 3,
        .evidence = (uint8_t)evidence,
        .is_implied = (at[5] & 4) != 0,
    };
    return true;
}

bool wio_member_of_numbers(enum wio_block_kind kind, const struct wio_edge_numbers *numbers,
                           const struct wio_edge_bounds *bounds, struct wio_member_row *row_out)
{
    const uint64_t *at = numbers->at;
    bool by_stream = kind == WIO_BLOCK_MEMBERS;
    uint64_t stream = by_stream ? at[0] : at[1];
    uint64_t collective = by_stream ? at[3] : at[0];
    uint64_t enter = by_stream ? at[1] : at[2];
    uint64_t length = by_stream ? at[2] : at[3];
    if (stream >= bounds->streams || collective >= bounds->collectives || at[4] > bounds->objects ||
        at[5] > bounds->streams || at[6] > at[5] || at[7] >> 2 >= WIO_EVIDENCE_COUNT ||
        enter + length < enter) {
        return false;
    }
    *row_out = (struct wio_member_row){
        .enter_seq = enter,
        .leave_seq = enter + length,
        .stream = (uint32_t)stream,
        .collective = (uint32_t)collective,
        .object = (uint32_t)at[4],
        .members = (uint32_t)at[5],
        .givers = (uint32_t)at[6],
        .evidence = (uint8_t)(at[7] >> 2),
        .gives = (at[7] & 1) != 0,
        .takes = (at[7] & 2) != 0,
    };
    return true;
}

bool wio_wait_of_numbers(const struct wio_edge_numbers *numbers,
                         const struct wio_edge_bounds *bounds, struct wio_wait_row *row_out)
{
    const uint64_t *at = numbers->at;
    if (at[0] >= bounds->streams || at[1] + at[2] < at[1]) {
        return false;
    }
    *row_out = (struct wio_wait_row){
        .first_seq = at[1],
        .last_seq = at[1] + at[2],
        .looks = at[3],
        .stream = (uint32_t)at[0],
    };
    return true;
}
