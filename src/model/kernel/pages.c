/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/pages.h"

#include "base/pick.h"

/* Chunks that are found fast enough without a table. */
#define CHUNKS_BY_TREE UINT64_C(64)

static int compare_chunks(const struct wio_chunk *a, const struct wio_chunk *b)
{
    return (a->index > b->index) - (a->index < b->index);
}

RB_GENERATE_STATIC(wio_chunk_tree, wio_chunk, node, compare_chunks)

void wio_chunk_pool_init(struct wio_chunk_pool *pool, const struct wio_alloc *alloc)
{
    *pool = (struct wio_chunk_pool){.alloc = *alloc};
}

void wio_chunk_pool_fini(struct wio_chunk_pool *pool)
{
    struct wio_chunk *chunk;
    while ((chunk = pool->spare) != NULL) {
        pool->spare = RB_LEFT(chunk, node);
        pool->alloc.put(pool->alloc.context, chunk);
    }
}

static struct wio_chunk *take_chunk(struct wio_chunk_pool *pool)
{
    struct wio_chunk *chunk = pool->spare;
    if (chunk == NULL) {
        return pool->alloc.get(pool->alloc.context, sizeof(*chunk));
    }
    pool->spare = RB_LEFT(chunk, node);
    *chunk = (struct wio_chunk){0};
    return chunk;
}

static struct wio_chunk **bucket_of(const struct wio_pages *pages, uint64_t index)
{
    uint64_t mixed = index * UINT64_C(0x9e3779b97f4a7c15);
    return &pages->buckets[(mixed >> 32) & (pages->bucket_count - 1)];
}

static void enter_bucket(struct wio_pages *pages, struct wio_chunk *chunk)
{
    struct wio_chunk **bucket = bucket_of(pages, chunk->index);
    chunk->chain = *bucket;
    *bucket = chunk;
}

static void leave_bucket(struct wio_pages *pages, struct wio_chunk *chunk)
{
    struct wio_chunk **place = bucket_of(pages, chunk->index);
    while (*place != chunk) {
        place = &(*place)->chain;
    }
    *place = chunk->chain;
}

/* A larger table; without memory for it the one there is stays, and is slower. */
static void grow_table(struct wio_pages *pages, struct wio_chunk_pool *pool)
{
    uint64_t count = pages->bucket_count > 0 ? pages->bucket_count * 4 : CHUNKS_BY_TREE * 4;
    struct wio_chunk **buckets =
        pool->alloc.get(pool->alloc.context, (size_t)count * sizeof(struct wio_chunk *));
    struct wio_chunk *chunk;
    if (buckets == NULL) {
        return;
    }
    pool->alloc.put(pool->alloc.context, pages->buckets);
    pages->buckets = buckets;
    pages->bucket_count = count;
    RB_FOREACH(chunk, wio_chunk_tree, &pages->chunks)
    {
        enter_bucket(pages, chunk);
    }
}

static struct wio_chunk *look_up(struct wio_pages *pages, uint64_t index)
{
    if (pages->bucket_count == 0) {
        struct wio_chunk key = {.index = index};
        return RB_FIND(wio_chunk_tree, &pages->chunks, &key);
    }
    struct wio_chunk *chunk = *bucket_of(pages, index);
    while (chunk != NULL && chunk->index != index) {
        chunk = chunk->chain;
    }
    return chunk;
}

static struct wio_chunk *find_chunk(struct wio_pages *pages, uint64_t index)
{
    if (pages->last == NULL || pages->last->index != index) {
        struct wio_chunk *found = look_up(pages, index);
        if (found == NULL) {
            return NULL;
        }
        pages->last = found;
    }
    return pages->last;
}

static void enter_chunk(struct wio_pages *pages, struct wio_chunk_pool *pool,
                        struct wio_chunk *chunk)
{
    RB_INSERT(wio_chunk_tree, &pages->chunks, chunk);
    pages->last = chunk;
    pages->chunk_count++;
    if (pages->bucket_count > 0) {
        enter_bucket(pages, chunk);
    }
    if (pages->chunk_count > CHUNKS_BY_TREE && pages->chunk_count > pages->bucket_count) {
        grow_table(pages, pool);
    }
}

static struct wio_chunk *need_chunk(struct wio_pages *pages, struct wio_chunk_pool *pool,
                                    uint64_t index)
{
    struct wio_chunk *chunk = find_chunk(pages, index);
    if (chunk == NULL && (chunk = take_chunk(pool)) != NULL) {
        chunk->index = index;
        enter_chunk(pages, pool, chunk);
    }
    return chunk;
}

static void drop_chunk(struct wio_pages *pages, struct wio_chunk_pool *pool,
                       struct wio_chunk *chunk)
{
    RB_REMOVE(wio_chunk_tree, &pages->chunks, chunk);
    pages->chunk_count--;
    if (pages->bucket_count > 0) {
        leave_bucket(pages, chunk);
    }
    if (pages->last == chunk) {
        pages->last = NULL;
    }
    RB_LEFT(chunk, node) = pool->spare;
    pool->spare = chunk;
}

/* Set (or clear) the bits [first, end) of a chunk; returns how many changed. */
static uint32_t change_bits(struct wio_chunk *chunk, unsigned first, unsigned end, bool set)
{
    uint32_t changed = 0;
    while (first < end) {
        unsigned word = first / 64;
        unsigned stop = (unsigned)wio_smaller(end, (word + UINT64_C(1)) * 64);
        uint64_t mask = wio_pages_mask(first % 64, stop - word * 64);
        uint64_t other = set ? mask & ~chunk->bits[word] : mask & chunk->bits[word];
        chunk->bits[word] ^= other;
        changed += (uint32_t)__builtin_popcountll(other);
        first = stop;
    }
    return changed;
}

enum wio_status wio_pages_add(struct wio_pages *pages, struct wio_chunk_pool *pool, uint64_t first,
                              uint64_t end, uint64_t *added_out)
{
    *added_out = 0;
    while (first < end) {
        uint64_t index = first / WIO_CHUNK_PAGES;
        uint64_t stop = wio_smaller(end, (index + 1) * WIO_CHUNK_PAGES);
        struct wio_chunk *chunk = need_chunk(pages, pool, index);
        if (chunk == NULL) {
            return WIO_ERR_NOMEM;
        }
        uint32_t added = change_bits(chunk, (unsigned)(first % WIO_CHUNK_PAGES),
                                     (unsigned)(stop - index * WIO_CHUNK_PAGES), true);
        chunk->count += added;
        pages->count += added;
        *added_out += added;
        first = stop;
    }
    return WIO_OK;
}

/* The first chunk at or after `index`, or NULL. */
static struct wio_chunk *chunk_from(struct wio_pages *pages, uint64_t index)
{
    struct wio_chunk key = {.index = index};
    return RB_NFIND(wio_chunk_tree, &pages->chunks, &key);
}

/* Remove [first, end), which lies inside the chunk. */
static uint32_t clear_chunk(struct wio_pages *pages, struct wio_chunk_pool *pool,
                            struct wio_chunk *chunk, uint64_t first, uint64_t end)
{
    uint64_t base = chunk->index * WIO_CHUNK_PAGES;
    uint32_t removed = change_bits(chunk, (unsigned)(first - base), (unsigned)(end - base), false);
    chunk->count -= removed;
    pages->count -= removed;
    if (chunk->count == 0) {
        drop_chunk(pages, pool, chunk);
    }
    return removed;
}

uint64_t wio_pages_remove(struct wio_pages *pages, struct wio_chunk_pool *pool, uint64_t first,
                          uint64_t end)
{
    uint64_t removed = 0;
    struct wio_chunk *chunk = chunk_from(pages, first / WIO_CHUNK_PAGES);
    while (chunk != NULL && chunk->index * WIO_CHUNK_PAGES < end) {
        struct wio_chunk *next = RB_NEXT(wio_chunk_tree, &pages->chunks, chunk);
        uint64_t base = chunk->index * WIO_CHUNK_PAGES;
        uint64_t start = first > base ? first : base;
        removed += clear_chunk(pages, pool, chunk, start, wio_smaller(end, base + WIO_CHUNK_PAGES));
        chunk = next;
    }
    return removed;
}

/* The first page of the chunk at or after bit `at` that is in the set (or is not);
 * WIO_CHUNK_PAGES where there is none. */
static unsigned next_bit(const struct wio_chunk *chunk, unsigned at, bool is_set)
{
    while (at < WIO_CHUNK_PAGES) {
        unsigned word = at / 64;
        uint64_t bits = is_set ? chunk->bits[word] : ~chunk->bits[word];
        bits &= wio_pages_mask(at % 64, 64);
        if (bits != 0) {
            return word * 64 + (unsigned)__builtin_ctzll(bits);
        }
        at = (word + 1) * 64;
    }
    return WIO_CHUNK_PAGES;
}

/* The first page at or after `from`; *chunk_out is NULL where there is none. */
static uint64_t find_page(struct wio_pages *pages, uint64_t from, struct wio_chunk **chunk_out)
{
    uint64_t index = from / WIO_CHUNK_PAGES;
    struct wio_chunk *chunk = chunk_from(pages, index);
    unsigned bit = WIO_CHUNK_PAGES;
    if (chunk != NULL && chunk->index == index) {
        bit = next_bit(chunk, (unsigned)(from % WIO_CHUNK_PAGES), true);
        if (bit == WIO_CHUNK_PAGES) {
            chunk = RB_NEXT(wio_chunk_tree, &pages->chunks, chunk);
        }
    }
    *chunk_out = chunk;
    if (chunk == NULL) {
        return 0;
    }
    return chunk->index * WIO_CHUNK_PAGES +
           (bit < WIO_CHUNK_PAGES ? bit : next_bit(chunk, 0, true));
}

bool wio_pages_find(struct wio_pages *pages, uint64_t *at)
{
    struct wio_chunk *chunk;
    *at = find_page(pages, *at, &chunk);
    return chunk != NULL;
}

uint64_t wio_pages_run(struct wio_pages *pages, uint64_t from, uint64_t end)
{
    uint64_t at = from;
    bool goes_on = true;
    while (at < end && goes_on) {
        const struct wio_chunk *chunk = find_chunk(pages, at / WIO_CHUNK_PAGES);
        unsigned bit = chunk != NULL ? next_bit(chunk, at % WIO_CHUNK_PAGES, false) : 0;
        goes_on = bit == WIO_CHUNK_PAGES;
        at = chunk != NULL ? chunk->index * WIO_CHUNK_PAGES + bit : at;
    }
    return wio_smaller(at, end) - from;
}

bool wio_pages_take_run(struct wio_pages *pages, struct wio_chunk_pool *pool, uint64_t from,
                        uint64_t most, uint64_t *first_out, uint64_t *count_out)
{
    struct wio_chunk *chunk;
    uint64_t at = find_page(pages, from, &chunk);
    if (chunk == NULL) {
        return false;
    }
    uint64_t limit = at + most;
    *first_out = at;
    while (chunk != NULL && at < limit && chunk->index == at / WIO_CHUNK_PAGES) {
        struct wio_chunk *next = RB_NEXT(wio_chunk_tree, &pages->chunks, chunk);
        uint64_t base = chunk->index * WIO_CHUNK_PAGES;
        uint64_t stop = wio_smaller(limit, base + next_bit(chunk, (unsigned)(at - base), false));
        if (stop == at) {
            break;
        }
        clear_chunk(pages, pool, chunk, at, stop);
        at = stop;
        chunk = next;
    }
    *count_out = at - *first_out;
    return true;
}

void wio_pages_clear(struct wio_pages *pages, struct wio_chunk_pool *pool)
{
    struct wio_chunk *chunk;
    while ((chunk = RB_MIN(wio_chunk_tree, &pages->chunks)) != NULL) {
        drop_chunk(pages, pool, chunk);
    }
    pool->alloc.put(pool->alloc.context, pages->buckets);
    *pages = (struct wio_pages){0};
}
