/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/match/ranges.h"

#include "base/cleanup.h"
#include "base/tree.h"

/* The last shared release of one thread. Those of a piece are in order of threads. */
struct range_reader {
    struct wio_point at;
    struct range_reader *next;
};

struct piece {
    RB_ENTRY(piece) by_place;
    struct wio_range range;
    struct range_reader *readers; /* since the last exclusive release */
    struct wio_point last;
    bool has_last;
};

RB_HEAD(pieces, piece);

struct wio_ranges {
    struct wio_alloc alloc;
    struct pieces pieces;
};

static int compare(const struct piece *a, const struct piece *b)
{
    return (a->range.from > b->range.from) - (a->range.from < b->range.from);
}

RB_GENERATE_STATIC(pieces, piece, by_place, compare)

enum wio_status wio_ranges_create(const struct wio_alloc *alloc, struct wio_ranges **ranges_out)
{
    struct wio_ranges *ranges = alloc->get(alloc->context, sizeof(*ranges));
    if (ranges == NULL) {
        return WIO_ERR_NOMEM;
    }
    ranges->alloc = *alloc;
    *ranges_out = ranges;
    return WIO_OK;
}

static void remove_piece(struct wio_ranges *ranges, struct piece *piece)
{
    const struct wio_alloc *alloc = &ranges->alloc;
    while (piece->readers != NULL) {
        struct range_reader *reader = piece->readers;
        piece->readers = reader->next;
        alloc->put(alloc->context, reader);
    }
    RB_REMOVE(pieces, &ranges->pieces, piece);
    alloc->put(alloc->context, piece);
}

void wio_ranges_destroy(struct wio_ranges *ranges)
{
    struct piece *piece;
    if (ranges == NULL) {
        return;
    }
    while ((piece = RB_ROOT(&ranges->pieces)) != NULL) {
        remove_piece(ranges, piece);
    }
    struct wio_alloc alloc = ranges->alloc;
    alloc.put(alloc.context, ranges);
}

static enum wio_status add_piece(struct wio_ranges *ranges, struct wio_range range,
                                 struct piece **piece_out)
{
    struct piece *piece = ranges->alloc.get(ranges->alloc.context, sizeof(*piece));
    if (piece == NULL) {
        return WIO_ERR_NOMEM;
    }
    piece->range = range;
    RB_INSERT(pieces, &ranges->pieces, piece);
    *piece_out = piece;
    return WIO_OK;
}

static enum wio_status insert_reader(const struct wio_ranges *ranges, struct range_reader **place,
                                     struct wio_point at)
{
    struct range_reader *reader = ranges->alloc.get(ranges->alloc.context, sizeof(*reader));
    if (reader == NULL) {
        return WIO_ERR_NOMEM;
    }
    *reader = (struct range_reader){.at = at, .next = *place};
    *place = reader;
    return WIO_OK;
}

static enum wio_status add_reader(struct wio_ranges *ranges, struct piece *piece,
                                  struct wio_point at)
{
    struct range_reader **place = &piece->readers;
    while (*place != NULL && (*place)->at.thread < at.thread) {
        place = &(*place)->next;
    }
    if (*place != NULL && (*place)->at.thread == at.thread) {
        (*place)->at = at;
        return WIO_OK;
    }
    return insert_reader(ranges, place, at);
}

static enum wio_status copy_readers(const struct wio_ranges *ranges, struct piece *to,
                                    const struct piece *from)
{
    struct range_reader **place = &to->readers;
    for (const struct range_reader *reader = from->readers; reader != NULL; reader = reader->next) {
        WIO_TRY(insert_reader(ranges, place, reader->at));
        place = &(*place)->next;
    }
    return WIO_OK;
}

/* The first piece that has a byte at or behind `from`. */
static struct piece *first_from(struct wio_ranges *ranges, uint64_t from)
{
    struct pieces *pieces = &ranges->pieces;
    struct piece key = {.range = {from, from}};
    struct piece *piece = RB_NFIND(pieces, pieces, &key);
    struct piece *before = piece == NULL ? RB_MAX(pieces, pieces) : RB_PREV(pieces, pieces, piece);
    return before != NULL && before->range.to > from ? before : piece;
}

/* No piece crosses this byte's begin afterwards. */
static enum wio_status cut(struct wio_ranges *ranges, uint64_t place)
{
    struct piece *piece = first_from(ranges, place);
    struct piece *rest;
    if (piece == NULL || piece->range.from >= place) {
        return WIO_OK;
    }
    uint64_t to = piece->range.to;
    piece->range.to = place;
    WIO_TRY(add_piece(ranges, (struct wio_range){place, to}, &rest));
    rest->last = piece->last;
    rest->has_last = piece->has_last;
    return copy_readers(ranges, rest, piece);
}

/* Do two pieces have the same releases? */
static bool is_alike(const struct piece *a, const struct piece *b)
{
    const struct range_reader *left = a->readers;
    const struct range_reader *right = b->readers;
    while (left != NULL && right != NULL && left->at.thread == right->at.thread &&
           left->at.op == right->at.op) {
        left = left->next;
        right = right->next;
    }
    return left == NULL && right == NULL && a->has_last == b->has_last &&
           a->last.thread == b->last.thread && a->last.op == b->last.op;
}

/* What was cut and has become alike since is one piece again, or many readers of many ranges would
 * leave pieces for ever. */
static void rejoin(struct wio_ranges *ranges, struct wio_range range)
{
    struct piece *piece = first_from(ranges, range.from > 0 ? range.from - 1 : 0);
    while (piece != NULL && piece->range.from < range.to) {
        struct piece *next = RB_NEXT(pieces, &ranges->pieces, piece);
        if (next == NULL || next->range.from != piece->range.to || !is_alike(piece, next)) {
            piece = next;
            continue;
        }
        piece->range.to = next->range.to;
        remove_piece(ranges, next);
    }
}

/* All pieces of the range get the reader, and so do the gaps between them. */
static enum wio_status release_shared(struct wio_ranges *ranges, struct wio_range range,
                                      struct wio_point at)
{
    uint64_t done = range.from;
    struct piece *piece = first_from(ranges, range.from);
    while (done < range.to) {
        struct piece *it = piece;
        uint64_t gap_end = it == NULL || it->range.from > range.to ? range.to : it->range.from;
        if (gap_end > done) {
            WIO_TRY(add_piece(ranges, (struct wio_range){done, gap_end}, &it));
        } else {
            piece = RB_NEXT(pieces, &ranges->pieces, it);
        }
        WIO_TRY(add_reader(ranges, it, at));
        done = it->range.to;
    }
    rejoin(ranges, range);
    return WIO_OK;
}

/* One piece replaces all: this release follows theirs, so a lock that follows it does too. */
static enum wio_status release_alone(struct wio_ranges *ranges, struct wio_range range,
                                     struct wio_point at)
{
    struct piece *piece = first_from(ranges, range.from);
    while (piece != NULL && piece->range.from < range.to) {
        struct piece *next = RB_NEXT(pieces, &ranges->pieces, piece);
        remove_piece(ranges, piece);
        piece = next;
    }
    WIO_TRY(add_piece(ranges, range, &piece));
    piece->last = at;
    piece->has_last = true;
    return WIO_OK;
}

enum wio_status wio_ranges_release(struct wio_ranges *ranges, struct wio_range range,
                                   struct wio_point at, bool shared)
{
    if (range.from >= range.to) {
        return WIO_OK;
    }
    WIO_TRY(cut(ranges, range.from));
    WIO_TRY(cut(ranges, range.to));
    return shared ? release_shared(ranges, range, at) : release_alone(ranges, range, at);
}

enum wio_status wio_ranges_find(struct wio_ranges *ranges, struct wio_range range, bool shared,
                                wio_ranges_follow *follow, void *context)
{
    struct piece *piece = range.from < range.to ? first_from(ranges, range.from) : NULL;
    for (; piece != NULL && piece->range.from < range.to;
         piece = RB_NEXT(pieces, &ranges->pieces, piece)) {
        if (piece->has_last) {
            WIO_TRY(follow(context, piece->last));
        }
        const struct range_reader *reader = shared ? NULL : piece->readers;
        for (; reader != NULL; reader = reader->next) {
            WIO_TRY(follow(context, reader->at));
        }
    }
    return WIO_OK;
}
