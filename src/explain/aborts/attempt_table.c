/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts that are known: by name, by begin while they are not over, by end afterwards. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/attempts_internal.h"

void wio_attempts_init(struct wio_attempts *attempts, struct wio_abort_sources *sources)
{
    *attempts = (struct wio_attempts){.sources = sources};
}

static void free_attempt(struct wio_attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->part_capacity; i++) {
        free(attempt->parts[i].ranges);
    }
    free(attempt->parts);
    wio_attempt_waits_free(attempt->waits);
    free(attempt);
}

static void free_list(struct wio_attempt *oldest)
{
    while (oldest != NULL) {
        struct wio_attempt *next = oldest->younger;
        free_attempt(oldest);
        oldest = next;
    }
}

void wio_attempts_fini(struct wio_attempts *attempts)
{
    free_list(attempts->open.oldest);
    free_list(attempts->ended.oldest);
    free_list(attempts->unused);
    for (uint32_t i = 0; i < attempts->server_count; i++) {
        free(attempts->servers[i].active);
    }
    free(attempts->servers);
    wio_map_fini(&attempts->server_index);
    free(attempts->buckets);
    free(attempts->past);
}

static uint64_t hash(const struct wio_txn_name *name)
{
    uint64_t mixed = (name->client ^ (name->number * UINT64_C(0x9e3779b97f4a7c15))) + name->attempt;
    mixed *= UINT64_C(0xbf58476d1ce4e5b9);
    return mixed ^ mixed >> 29;
}

static struct wio_attempt **bucket_of(const struct wio_attempts *attempts,
                                      const struct wio_txn_name *name)
{
    return &attempts->buckets[hash(name) & (attempts->bucket_count - 1)];
}

struct wio_attempt *wio_attempts_find(const struct wio_attempts *attempts,
                                      const struct wio_txn_name *name)
{
    if (attempts->bucket_count == 0) {
        return NULL;
    }
    struct wio_attempt *attempt = *bucket_of(attempts, name);
    while (attempt != NULL &&
           (attempt->name.client != name->client || attempt->name.number != name->number ||
            attempt->name.attempt != name->attempt)) {
        attempt = attempt->hash_next;
    }
    return attempt;
}

static struct wio_attempt_past *past_of(const struct wio_attempts *attempts,
                                        const struct wio_txn_name *name)
{
    struct wio_txn_name txn = {.client = name->client, .number = name->number};
    return &attempts->past[hash(&txn) % WIO_ATTEMPTS_PAST];
}

bool wio_attempts_is_past(const struct wio_attempts *attempts, const struct wio_txn_name *name)
{
    if (attempts->past == NULL) {
        return false;
    }
    const struct wio_attempt_past *past = past_of(attempts, name);
    return past->client == name->client && past->number == name->number &&
           name->attempt <= past->attempt;
}

/* Without memory for it late rows are not known as such. */
static void note_past(struct wio_attempts *attempts, const struct wio_txn_name *name)
{
    if (attempts->past == NULL) {
        attempts->past = calloc(WIO_ATTEMPTS_PAST, sizeof(*attempts->past));
    }
    if (attempts->past != NULL && !wio_attempts_is_past(attempts, name)) {
        *past_of(attempts, name) =
            (struct wio_attempt_past){name->client, name->number, name->attempt};
    }
}

static void add_to_bucket(struct wio_attempts *attempts, struct wio_attempt *attempt)
{
    struct wio_attempt **bucket = bucket_of(attempts, &attempt->name);
    attempt->hash_next = *bucket;
    *bucket = attempt;
}

static void fill_buckets(struct wio_attempts *attempts, struct wio_attempt *oldest)
{
    for (struct wio_attempt *at = oldest; at != NULL; at = at->younger) {
        add_to_bucket(attempts, at);
    }
}

static enum wio_status make_buckets(struct wio_attempts *attempts)
{
    if (attempts->open.count + attempts->ended.count < attempts->bucket_count) {
        return WIO_OK;
    }
    size_t count = attempts->bucket_count == 0 ? 256 : 2 * attempts->bucket_count;
    struct wio_attempt **buckets = calloc(count, sizeof(struct wio_attempt *));
    if (buckets == NULL) {
        return WIO_ERR_NOMEM;
    }
    free(attempts->buckets);
    attempts->buckets = buckets;
    attempts->bucket_count = count;
    fill_buckets(attempts, attempts->open.oldest);
    fill_buckets(attempts, attempts->ended.oldest);
    return WIO_OK;
}

static void remove_from_bucket(struct wio_attempts *attempts, struct wio_attempt *attempt)
{
    struct wio_attempt **at = bucket_of(attempts, &attempt->name);
    while (*at != attempt) {
        at = &(*at)->hash_next;
    }
    *at = attempt->hash_next;
}

/* An attempt may begin before so many others that were seen before it. */
#define BEGINS_LATE 256u

static void list_insert(struct wio_attempt_list *list, struct wio_attempt *before,
                        struct wio_attempt *attempt)
{
    attempt->older = before;
    attempt->younger = before == NULL ? list->oldest : before->younger;
    *(attempt->younger == NULL ? &list->youngest : &attempt->younger->older) = attempt;
    *(before == NULL ? &list->oldest : &before->younger) = attempt;
    list->count++;
}

static void list_remove(struct wio_attempt_list *list, struct wio_attempt *attempt)
{
    *(attempt->older == NULL ? &list->oldest : &attempt->older->younger) = attempt->younger;
    *(attempt->younger == NULL ? &list->youngest : &attempt->younger->older) = attempt->older;
    list->count--;
}

/* By begin: nearly always at the young end. */
static void link_by_begin(struct wio_attempts *attempts, struct wio_attempt *attempt)
{
    struct wio_attempt *before = attempts->open.youngest;
    for (unsigned steps = 0; before != NULL && before->begin_ns > attempt->begin_ns; steps++) {
        if (steps == BEGINS_LATE) {
            attempt->begin_ns = before->begin_ns; /* no server is so late: a hostile trace */
            break;
        }
        before = before->older;
    }
    list_insert(&attempts->open, before, attempt);
}

static void set_aside(struct wio_attempts *attempts, struct wio_attempt *attempt)
{
    remove_from_bucket(attempts, attempt);
    wio_attempt_waits_free(attempt->waits);
    attempt->waits = NULL;
    attempt->younger = attempts->unused;
    attempts->unused = attempt;
}

/* Its parts keep their arrays. */
static void clear(struct wio_attempt *attempt)
{
    struct wio_attempt_part *parts = attempt->parts;
    uint32_t capacity = attempt->part_capacity;
    *attempt = (struct wio_attempt){.parts = parts, .part_capacity = capacity};
}

struct wio_attempt_part *wio_attempt_part_at(const struct wio_attempt *attempt, uint32_t server)
{
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        if (attempt->parts[i].server == server) {
            return &attempt->parts[i];
        }
    }
    return NULL;
}

void wio_attempts_deactivate(struct wio_attempts *attempts, struct wio_attempt *attempt,
                             struct wio_attempt_part *part, uint64_t now_ns)
{
    struct wio_attempt_server *server = &attempts->servers[part->server];
    if (part->place == WIO_PART_INACTIVE) {
        return;
    }
    struct wio_attempt *moved = server->active[--server->active_count];
    server->active[part->place] = moved;
    wio_attempt_part_at(moved, part->server)->place = part->place;
    part->place = WIO_PART_INACTIVE;
    part->last_ns = now_ns;
    attempt->active_parts--;
}

/* Of a trace whose attempts do not end there is no end of memory either. */
static void forget_oldest(struct wio_attempts *attempts)
{
    struct wio_attempt *oldest = attempts->open.oldest;
    for (uint32_t i = 0; i < oldest->part_count; i++) {
        wio_attempts_deactivate(attempts, oldest, &oldest->parts[i], oldest->begin_ns);
    }
    list_remove(&attempts->open, oldest);
    attempts->forgotten++;
    set_aside(attempts, oldest);
}

enum wio_status wio_attempts_new(struct wio_attempts *attempts, const struct wio_txn_name *name,
                                 uint64_t begin_ns, struct wio_attempt **attempt_out)
{
    if (attempts->open.count == WIO_ATTEMPTS_OPEN) {
        forget_oldest(attempts);
    }
    WIO_TRY(make_buckets(attempts));
    struct wio_attempt *attempt = attempts->unused;
    if (attempt != NULL) {
        attempts->unused = attempt->younger;
    } else if ((attempt = calloc(1, sizeof(*attempt))) == NULL) {
        return WIO_ERR_NOMEM;
    }
    clear(attempt);
    attempt->name = *name;
    attempt->begin_ns = begin_ns;
    attempt->end_ns = WIO_ATTEMPT_OPEN;
    attempt->last_file = UINT64_MAX;
    attempt->source_index = WIO_NO_SOURCE;
    attempt->line_index = WIO_NO_SOURCE;
    add_to_bucket(attempts, attempt);
    link_by_begin(attempts, attempt);
    *attempt_out = attempt;
    return WIO_OK;
}

/* Those that ended before the oldest one that is not over has begun are of no use any more. */
static void purge(struct wio_attempts *attempts)
{
    while (attempts->ended.count > 0) {
        struct wio_attempt *first = attempts->ended.oldest;
        bool is_wanted =
            attempts->open.count > 0 && first->end_ns >= attempts->open.oldest->begin_ns;
        if (is_wanted && attempts->ended.count <= WIO_ATTEMPTS_KEPT) {
            return;
        }
        attempts->forgotten += is_wanted;
        list_remove(&attempts->ended, first);
        set_aside(attempts, first);
    }
}

void wio_attempts_retire(struct wio_attempts *attempts, struct wio_attempt *attempt)
{
    wio_attempt_end_waits(attempt);
    if (attempt->is_aborted) {
        note_past(attempts, &attempt->name);
    }
    list_remove(&attempts->open, attempt);
    list_insert(&attempts->ended, attempts->ended.youngest, attempt);
    purge(attempts);
}
