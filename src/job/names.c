/* SPDX-License-Identifier: Apache-2.0 */
#include "job/names.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/mix.h"

#define MOST_DEFAULT (1u << 24)
#define PAGE_FIRST                                                                                 \
    1024u /* names of the first page; each page has twice those of the one before                  \
           */
#define PAGES 22u
#define BLOCK_BYTES ((size_t)64 * 1024)
#define INDEX_FIRST 1024u

struct job_name {
    const char *text;
    uint32_t bytes;
    uint32_t hash;
};

struct block {
    struct block *next;
    size_t used;
    char bytes[];
};

struct wio_job_names {
    struct wio_alloc alloc;
    uint32_t most;
    _Atomic uint32_t count;
    /* Number n is at place n - 1. A page is published before the count that reaches into it. */
    _Atomic(struct job_name *) pages[PAGES];
    struct block *blocks;
    uint32_t *index; /* hash -> number, 0 = free; linear probing; of the adding thread */
    uint32_t index_room;
};

static uint32_t hash_of(const char *text, size_t bytes)
{
    const uint64_t hash = wio_mix_text(WIO_MIX_TEXT, text, bytes);
    return (uint32_t)(hash ^ (hash >> 32));
}

/* Page and place in it of a number: page p begins at PAGE_FIRST * (2^p - 1). */
static struct job_name *place_of(const struct wio_job_names *names, uint32_t job,
                                 unsigned *page_out, uint32_t *in_page_out)
{
    uint32_t at = job - 1;
    unsigned page = 31 - (unsigned)__builtin_clz(at / PAGE_FIRST + 1);
    *page_out = page;
    *in_page_out = at - PAGE_FIRST * ((1u << page) - 1);
    return atomic_load_explicit(&names->pages[page], memory_order_acquire);
}

static const struct job_name *name_of(const struct wio_job_names *names, uint32_t job)
{
    unsigned page;
    uint32_t in_page;
    const struct job_name *names_of_page = place_of(names, job, &page, &in_page);
    return &names_of_page[in_page];
}

enum wio_status wio_job_names_create(const struct wio_alloc *alloc, uint32_t most,
                                     struct wio_job_names **names_out)
{
    struct wio_job_names *names = alloc->get(alloc->context, sizeof(*names));
    *names_out = names;
    if (names == NULL) {
        return WIO_ERR_NOMEM;
    }
    names->alloc = *alloc;
    names->most = most == 0 || most > WIO_JOB_NUMBERS - 1 ? MOST_DEFAULT : most;
    return WIO_OK;
}

void wio_job_names_destroy(struct wio_job_names *names)
{
    if (names == NULL) {
        return;
    }
    const struct wio_alloc alloc = names->alloc;
    for (struct block *block = names->blocks, *next; block != NULL; block = next) {
        next = block->next;
        alloc.put(alloc.context, block);
    }
    for (unsigned i = 0; i < PAGES; i++) {
        alloc.put(alloc.context, atomic_load_explicit(&names->pages[i], memory_order_relaxed));
    }
    alloc.put(alloc.context, names->index);
    alloc.put(alloc.context, names);
}

uint32_t wio_job_names_count(const struct wio_job_names *names)
{
    return atomic_load_explicit(&names->count, memory_order_acquire);
}

const char *wio_job_names_text(const struct wio_job_names *names, uint32_t job, size_t *bytes_out)
{
    if (job == WIO_JOB_NONE || job > wio_job_names_count(names)) {
        if (bytes_out != NULL) {
            *bytes_out = 0;
        }
        return "";
    }
    const struct job_name *name = name_of(names, job);
    if (bytes_out != NULL) {
        *bytes_out = name->bytes;
    }
    return name->text;
}

/* Where the text stands in the index, or the free place where it belongs. The index has room. */
static uint32_t *probe(const struct wio_job_names *names, uint32_t hash, const char *text,
                       size_t bytes)
{
    for (uint32_t at = hash;; at++) {
        uint32_t *place = &names->index[at & (names->index_room - 1)];
        if (*place == 0) {
            return place;
        }
        const struct job_name *name = name_of(names, *place);
        if (name->hash == hash && name->bytes == bytes && memcmp(name->text, text, bytes) == 0) {
            return place;
        }
    }
}

uint32_t wio_job_names_find(const struct wio_job_names *names, const char *text, size_t bytes)
{
    if (names->index_room == 0 || bytes == 0) {
        return WIO_JOB_NONE;
    }
    return *probe(names, hash_of(text, bytes), text, bytes);
}

static enum wio_status grow_index(struct wio_job_names *names)
{
    uint32_t room = names->index_room == 0 ? INDEX_FIRST : 2 * names->index_room;
    uint32_t *index = wio_alloc_array(&names->alloc, room, sizeof(*index));
    if (index == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t job = 1; job <= wio_job_names_count(names); job++) {
        uint32_t at = name_of(names, job)->hash & (room - 1);
        while (index[at] != 0) {
            at = (at + 1) & (room - 1);
        }
        index[at] = job;
    }
    names->alloc.put(names->alloc.context, names->index);
    names->index = index;
    names->index_room = room;
    return WIO_OK;
}

/* Room for one name more in its page and in the index. */
static enum wio_status make_room(struct wio_job_names *names, uint32_t job)
{
    unsigned page;
    uint32_t in_page;
    if (place_of(names, job, &page, &in_page) == NULL) {
        struct job_name *fresh =
            wio_alloc_array(&names->alloc, (size_t)PAGE_FIRST << page, sizeof(*fresh));
        if (fresh == NULL) {
            return WIO_ERR_NOMEM;
        }
        atomic_store_explicit(&names->pages[page], fresh, memory_order_release);
    }
    return job < names->index_room / 2 ? WIO_OK : grow_index(names);
}

/* A copy that lives as long as `names`; NULL where memory is short. */
static const char *keep_text(struct wio_job_names *names, const char *text, size_t bytes)
{
    struct block *block = names->blocks;
    if (block == NULL || BLOCK_BYTES - block->used < bytes + 1) {
        block = names->alloc.get(names->alloc.context, sizeof(*block) + BLOCK_BYTES);
        if (block == NULL) {
            return NULL;
        }
        block->next = names->blocks;
        names->blocks = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    block->used += bytes + 1;
    return copy;
}

enum wio_status wio_job_names_add(struct wio_job_names *names, const char *text, size_t bytes,
                                  uint32_t *job_out)
{
    *job_out = wio_job_names_find(names, text, bytes);
    if (*job_out != WIO_JOB_NONE || bytes == 0) {
        return WIO_OK;
    }
    if (bytes > WIO_JOB_BYTES || memchr(text, '\0', bytes) != NULL) {
        return WIO_ERR_USAGE;
    }
    uint32_t job = wio_job_names_count(names) + 1;
    if (job > names->most) {
        return WIO_ERR_BUSY;
    }
    WIO_TRY(make_room(names, job));
    const char *copy = keep_text(names, text, bytes);
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    const uint32_t hash = hash_of(text, bytes);
    unsigned page;
    uint32_t in_page;
    place_of(names, job, &page, &in_page)[in_page] = (struct job_name){copy, (uint32_t)bytes, hash};
    *probe(names, hash, text, bytes) = job;
    atomic_store_explicit(&names->count, job, memory_order_release);
    *job_out = job;
    return WIO_OK;
}
