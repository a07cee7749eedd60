/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/api/api_internal.h"

/* ---- what numbers are called --------------------------------------------------------------- */

void api_labels_fini(struct api_labels *labels)
{
    wio_map_fini(&labels->jobs);
    wio_map_fini(&labels->sources);
    wio_strtab_fini(&labels->texts);
}

static uint64_t job_key(uint16_t target, uint32_t job)
{
    return (uint64_t)target << 32 | job;
}

/* Of a random client and a small number: no two are expected to be the same, and a wrong name is
 * all that could come of it. */
static uint64_t source_key(uint64_t client, uint32_t source)
{
    return client ^ (source * UINT64_C(0x9e3779b97f4a7c15));
}

/* Names are for people: where there is no memory, they are not known. */
static void put(struct api_labels *labels, struct wio_map *map, uint64_t key, const char *text,
                size_t bytes)
{
    uint32_t id = 0;
    if (wio_strtab_add(&labels->texts, text, bytes, &id) == WIO_OK) {
        (void)!wio_map_put(map, key, id);
    }
}

void api_labels_job(struct api_labels *labels, uint16_t target, const struct wio_wire_job *job)
{
    put(labels, &labels->jobs, job_key(target, job->job), job->name, strlen(job->name));
}

void api_labels_source(struct api_labels *labels, const struct wio_store_request *define)
{
    put(labels, &labels->sources, source_key(define->txn.client, define->source), define->path,
        define->path_size);
}

static void get(const struct api_labels *labels, const struct wio_map *map, uint64_t key,
                char *text, size_t size)
{
    const uint64_t *id = wio_map_get(map, key);
    size_t bytes = 0;
    const char *found = wio_strtab_get(&labels->texts, id != NULL ? (uint32_t)*id : 0, &bytes);
    (void)snprintf(text, size, "%.*s", (int)bytes, found);
}

/* ---- blockers ------------------------------------------------------------------------------ */

static const char *name_of(const char *const *names, size_t count, uint8_t number)
{
    return number < count ? names[number] : "unknown";
}

static void fill(const struct api_labels *labels, uint16_t target,
                 const struct wio_lock_blocker *from, struct wio_store_blocker *to)
{
    static const char *const modes[] = {[WIO_LOCK_SHARED] = "shared",
                                        [WIO_LOCK_EXCLUSIVE] = "exclusive",
                                        [WIO_LOCK_INCREMENT] = "increment"};
    static const char *const roles[] = {[WIO_LOCK_ROLE_HOLDER] = "holder",
                                        [WIO_LOCK_ROLE_QUEUED] = "queued",
                                        [WIO_LOCK_ROLE_PREPARED] = "prepared",
                                        [WIO_LOCK_ROLE_DEAD] = "dead"};
    const uint32_t flags = WIO_STORE_LOCK_SIZE | WIO_STORE_LOCK_POINTER;
    *to = (struct wio_store_blocker){
        .client = from->txn.client,
        .number = from->txn.number,
        .birth_ns = from->txn.birth_ns,
        .attempt = from->txn.attempt,
        .segment = from->range.segment & ~flags,
        .file = from->range.file,
        .from = from->range.from,
        .to = from->range.to,
        .is_size = (from->range.segment & WIO_STORE_LOCK_SIZE) != 0,
        .is_pointer = (from->range.segment & WIO_STORE_LOCK_POINTER) != 0,
        .mode = name_of(modes, WIO_ARRAY_SIZE(modes), from->mode),
        .role = name_of(roles, WIO_ARRAY_SIZE(roles), from->role),
    };
    get(labels, &labels->jobs, job_key(target, from->job), to->job, sizeof(to->job));
    get(labels, &labels->sources, source_key(from->txn.client, from->source), to->source,
        sizeof(to->source));
}

void api_labels_fill(const struct api_labels *labels, uint16_t target,
                     const struct wio_lock_blockers *from, struct wio_store_blockers *to)
{
    to->count = from->count;
    to->listed = from->listed < WIO_STORE_BLOCKERS ? from->listed : WIO_STORE_BLOCKERS;
    for (uint32_t i = 0; i < to->listed; i++) {
        fill(labels, target, &from->list[i], &to->list[i]);
    }
}

void api_blockers_text(const struct wio_store_blockers *blockers, char *text, size_t size)
{
    const struct wio_store_blocker *first = &blockers->list[0];
    char range[80];
    char more[40] = "";
    text[0] = '\0';
    if (blockers->listed == 0) {
        return;
    }
    if (first->is_size || first->is_pointer) {
        (void)snprintf(range, sizeof(range), "%s", first->is_size ? "the size" : "the pointer");
    } else {
        (void)snprintf(range, sizeof(range), "bytes %" PRIu64 " to %" PRIu64, first->from,
                       first->to);
    }
    if (blockers->count > 1) {
        (void)snprintf(more, sizeof(more), ", and %" PRIu32 " more", blockers->count - 1);
    }
    (void)snprintf(text, size,
                   ": transaction %" PRIu64 " of client %016" PRIx64
                   "%s%s%s%s (%s, %s) on %s of segment %" PRIu32 " of file %" PRIu64 "%s",
                   first->number, first->client, first->job[0] != '\0' ? ", job " : "", first->job,
                   first->source[0] != '\0' ? ", at " : "", first->source, first->role, first->mode,
                   range, first->segment, first->file, more);
}
