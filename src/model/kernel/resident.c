/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/resident.h"

#include <math.h>

#include "base/cleanup.h"

/* Pages of 1 GiB. */
#define GIB_PAGES 262144.0

static int compare_pieces(const struct wio_piece *a, const struct wio_piece *b)
{
    if (a->file->id != b->file->id) {
        return a->file->id < b->file->id ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

RB_GENERATE_STATIC(wio_piece_tree, wio_piece, node, compare_pieces)

void wio_resident_init(struct wio_resident *resident, const struct wio_alloc *alloc,
                       struct wio_chunk_pool *pool, uint64_t room)
{
    double ratio = floor(sqrt(10 * (double)room / GIB_PAGES));
    *resident = (struct wio_resident){.alloc = *alloc,
                                      .pool = pool,
                                      .room = room,
                                      .inactive_ratio = ratio > 1 ? (uint64_t)ratio : 1};
    TAILQ_INIT(&resident->lists[0]);
    TAILQ_INIT(&resident->lists[1]);
}

static bool is_limited(const struct wio_resident *resident)
{
    return resident->room < UINT64_MAX;
}

/* Forget a piece; its pages stay in the file's set. */
static void forget(struct wio_resident *resident, struct wio_piece *piece)
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
        forget(resident, piece);
    }
}

static void evict(struct wio_resident *resident, struct wio_piece *piece)
{
    uint64_t first = piece->index * WIO_CHUNK_PAGES;
    (void)wio_pages_remove(&piece->file->pages, resident->pool, first, first + WIO_CHUNK_PAGES);
    forget(resident, piece);
}

static void move(struct wio_resident *resident, struct wio_piece *piece, bool is_active)
{
    TAILQ_REMOVE(&resident->lists[piece->is_active], piece, in_list);
    resident->pages[piece->is_active] -= piece->count;
    piece->is_active = is_active;
    TAILQ_INSERT_TAIL(&resident->lists[is_active], piece, in_list);
    resident->pages[is_active] += piece->count;
}

static struct wio_piece *find(struct wio_resident *resident, struct wio_resident_file *file,
                              uint64_t index)
{
    struct wio_piece key = {.file = file, .index = index};
    return RB_FIND(wio_piece_tree, &resident->pieces, &key);
}

static struct wio_piece *need(struct wio_resident *resident, struct wio_resident_file *file,
                              uint64_t index)
{
    struct wio_piece *piece = find(resident, file, index);
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

/* Take memory back until everything fits: from the piece that was inactive first. */
static void reclaim(struct wio_resident *resident)
{
    while (resident->pages[0] + resident->pages[1] > resident->room) {
        struct wio_piece *oldest = TAILQ_FIRST(&resident->lists[1]);
        if (oldest != NULL && resident->pages[0] * resident->inactive_ratio < resident->pages[1]) {
            move(resident, oldest, false);
        } else if (!TAILQ_EMPTY(&resident->lists[0])) {
            evict(resident, TAILQ_FIRST(&resident->lists[0]));
        } else {
            evict(resident, oldest);
        }
    }
}

/* Where the piece ends in which `first` lies, but not behind `end`. */
static uint64_t piece_end(uint64_t first, uint64_t end)
{
    uint64_t stop = (first / WIO_CHUNK_PAGES + 1) * WIO_CHUNK_PAGES;
    return stop < end ? stop : end;
}

/* The same where memory is limited, within one piece. */
static enum wio_status add_to_piece(struct wio_resident *resident, struct wio_resident_file *file,
                                    uint64_t first, uint64_t end, uint64_t *added_out)
{
    struct wio_piece *piece = need(resident, file, first / WIO_CHUNK_PAGES);
    if (piece == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_pages_add(&file->pages, resident->pool, first, end, added_out));
    piece->count += (uint32_t)*added_out;
    resident->pages[piece->is_active] += *added_out;
    reclaim(resident);
    return WIO_OK;
}

enum wio_status wio_resident_add(struct wio_resident *resident, struct wio_resident_file *file,
                                 uint64_t first, uint64_t end, uint64_t *added_out)
{
    if (!is_limited(resident)) {
        return wio_pages_add(&file->pages, resident->pool, first, end, added_out);
    }
    *added_out = 0;
    for (uint64_t stop; first < end; first = stop) {
        uint64_t added;
        stop = piece_end(first, end);
        WIO_TRY(add_to_piece(resident, file, first, stop, &added));
        *added_out += added;
    }
    return WIO_OK;
}

/* Note pages [first, end) of a piece as used; was one of them before? */
static bool use(struct wio_piece *piece, uint64_t first, uint64_t end)
{
    bool was_used = false;
    for (uint64_t word = first / 64; word * 64 < end; word++) {
        uint64_t from = first > word * 64 ? first - word * 64 : 0;
        uint64_t to = end < (word + 1) * 64 ? end - word * 64 : 64;
        uint64_t mask = wio_pages_mask((unsigned)from, (unsigned)to);
        was_used |= (piece->used[word] & mask) != 0;
        piece->used[word] |= mask;
    }
    return was_used;
}

void wio_resident_touch(struct wio_resident *resident, struct wio_resident_file *file,
                        uint64_t first, uint64_t end)
{
    for (uint64_t stop; is_limited(resident) && first < end; first = stop) {
        stop = piece_end(first, end);
        struct wio_piece *piece = find(resident, file, first / WIO_CHUNK_PAGES);
        uint64_t base = first / WIO_CHUNK_PAGES * WIO_CHUNK_PAGES;
        if (piece != NULL && use(piece, first - base, stop - base)) {
            move(resident, piece, true);
        }
    }
}

static void drop_of_piece(struct wio_resident *resident, struct wio_resident_file *file,
                          uint64_t first, uint64_t end)
{
    struct wio_piece *piece = find(resident, file, first / WIO_CHUNK_PAGES);
    if (piece == NULL) {
        return;
    }
    uint64_t removed = wio_pages_remove(&file->pages, resident->pool, first, end);
    resident->pages[piece->is_active] -= removed;
    piece->count -= (uint32_t)removed;
    if (piece->count == 0) {
        forget(resident, piece);
    }
}

void wio_resident_drop(struct wio_resident *resident, struct wio_resident_file *file,
                       uint64_t first, uint64_t end)
{
    if (!is_limited(resident)) {
        (void)wio_pages_remove(&file->pages, resident->pool, first, end);
        return;
    }
    uint64_t at = first;
    while (file->pages.count > 0 && wio_pages_find(&file->pages, &at) && at < end) {
        uint64_t stop = piece_end(at, end);
        drop_of_piece(resident, file, at, stop);
        at = stop;
    }
}
