/* SPDX-License-Identifier: Apache-2.0 */
#include "model/resident.h"

#include <math.h>

/* Pages of 1 GiB. */
#define GIB_PAGES 262144.0

static int compare_pieces(const struct wio_piece *a, const struct wio_piece *b)
{
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

RB_GENERATE_STATIC(wio_piece_tree, wio_piece, node, compare_pieces)

void wio_resident_init(struct wio_resident *resident, const struct wio_alloc *alloc, uint64_t room)
{
    double ratio = floor(sqrt(10 * (double)room / GIB_PAGES));
    *resident = (struct wio_resident){
        .alloc = *alloc, .room = room, .inactive_ratio = ratio > 1 ? (uint64_t)ratio : 1};
    TAILQ_INIT(&resident->lists[0]);
    TAILQ_INIT(&resident->lists[1]);
}

static void drop(struct wio_resident *resident, struct wio_piece *piece)
{
    TAILQ_REMOVE(&resident->lists[piece->is_active], piece, in_list);
    resident->pages[piece->is_active] -= piece->count;
    RB_REMOVE(wio_piece_tree, &resident->pieces, piece);
    resident->alloc.put(resident->alloc.context, piece);
}

void wio_resident_fini(struct wio_resident *resident)
{
    struct wio_piece *piece;
    while ((piece = RB_MIN(wio_piece_tree, &resident->pieces)) != NULL) {
        drop(resident, piece);
    }
}

static void move(struct wio_resident *resident, struct wio_piece *piece, bool is_active)
{
    TAILQ_REMOVE(&resident->lists[piece->is_active], piece, in_list);
    resident->pages[piece->is_active] -= piece->count;
    piece->is_active = is_active;
    TAILQ_INSERT_TAIL(&resident->lists[is_active], piece, in_list);
    resident->pages[is_active] += piece->count;
}

static struct wio_piece *need(struct wio_resident *resident, uint64_t file, uint64_t index)
{
    struct wio_piece key = {.file = file, .index = index};
    struct wio_piece *piece = RB_FIND(wio_piece_tree, &resident->pieces, &key);
    if (piece == NULL) {
        piece = resident->alloc.get(resident->alloc.context, sizeof(*piece));
        if (piece == NULL) {
            return NULL;
        }
        piece->file = file;
        piece->index = index;
        RB_INSERT(wio_piece_tree, &resident->pieces, piece);
        TAILQ_INSERT_TAIL(&resident->lists[0], piece, in_list);
    }
    return piece;
}

/* Set bits; returns how many were set before. */
static uint32_t use_bits(struct wio_piece *piece, uint64_t first, uint64_t end)
{
    uint32_t hits = 0;
    for (uint64_t word = first / 64; word * 64 < end; word++) {
        uint64_t from = first > word * 64 ? first - word * 64 : 0;
        uint64_t to = end < (word + 1) * 64 ? end - word * 64 : 64;
        uint64_t mask = (~UINT64_C(0) >> (64 - (to - from))) << from;
        hits += (uint32_t)__builtin_popcountll(piece->bits[word] & mask);
        piece->bits[word] |= mask;
    }
    return hits;
}

/* Take memory back until everything fits: from the piece that was inactive first. */
static void reclaim(struct wio_resident *resident)
{
    while (resident->pages[0] + resident->pages[1] > resident->room) {
        struct wio_piece *oldest = TAILQ_FIRST(&resident->lists[1]);
        if (oldest != NULL && resident->pages[0] * resident->inactive_ratio < resident->pages[1]) {
            move(resident, oldest, false);
        } else if (!TAILQ_EMPTY(&resident->lists[0])) {
            drop(resident, TAILQ_FIRST(&resident->lists[0]));
        } else {
            drop(resident, oldest);
        }
    }
}

enum wio_status wio_resident_use(struct wio_resident *resident, uint64_t file, uint64_t first,
                                 uint64_t end, uint64_t *hits_out)
{
    *hits_out = 0;
    while (first < end && resident->room > 0) {
        uint64_t index = first / WIO_PIECE_PAGES;
        uint64_t base = index * WIO_PIECE_PAGES;
        uint64_t stop = end < base + WIO_PIECE_PAGES ? end : base + WIO_PIECE_PAGES;
        struct wio_piece *piece = need(resident, file, index);
        if (piece == NULL) {
            return WIO_ERR_NOMEM;
        }
        uint32_t hits = use_bits(piece, first - base, stop - base);
        uint32_t added = (uint32_t)(stop - first) - hits;
        piece->count += added;
        resident->pages[piece->is_active] += added;
        if (hits > 0) {
            move(resident, piece, true);
        }
        *hits_out += hits;
        reclaim(resident);
        first = stop;
    }
    return WIO_OK;
}
