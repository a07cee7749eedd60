/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/names.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/names.h"
#include "job/quote.h"
#include "store/wire/message.h"

/* Bounds of what clients can make a server keep, in bytes; an entry takes ENTRY_BYTES beside its
 * text. */
#define JOBS_BYTES_MAX (UINT64_C(128) << 20)
#define SOURCES_BYTES_MAX (UINT64_C(256) << 20)
#define ENTRY_BYTES 64u

enum {
    CLIENT_PART = 4,     /* a connection's part of them is the CLIENT_PART-th */
    USERS_MAX = 1 << 12, /* further users are one */
    TEXT_MAX = 1024,
    TOLD_MAX = 1 << 16
};

void wio_names_fini(struct wio_store_names *names)
{
    wio_strtab_fini(&names->jobs);
    wio_strtab_fini(&names->sources);
    wio_map_fini(&names->source_of);
    wio_map_fini(&names->job_room.users);
    wio_map_fini(&names->source_room.users);
}

void wio_names_told_fini(struct wio_names_told *told)
{
    wio_map_fini(&told->keys);
}

/* ---- room ---------------------------------------------------------------------------------- */

/* The place of what the user has; NULL: there is no memory. */
static uint64_t *part_of(struct wio_names_room *room, uint32_t uid)
{
    uint64_t key = uid;
    uint64_t *part = wio_map_get(&room->users, key);
    if (part == NULL && room->users.hash.count >= USERS_MAX) {
        key = UINT64_MAX; /* one for all further users */
        part = wio_map_get(&room->users, key);
    }
    if (part == NULL && wio_map_put(&room->users, key, 0) == WIO_OK) {
        part = wio_map_get(&room->users, key);
    }
    return part;
}

/* R-NAMES-1. Take room for one entry: within a connection's part, and so that as much stays free as
 * its user has. False: there is none. */
static bool take_room(struct wio_names_room *room, uint64_t most, uint32_t uid, uint64_t *own_bytes,
                      size_t text_bytes)
{
    const uint64_t bytes = text_bytes + ENTRY_BYTES;
    uint64_t *part = part_of(room, uid);
    if (part == NULL || *own_bytes + bytes > most / CLIENT_PART || room->used + bytes > most ||
        *part + bytes > most - room->used - bytes) {
        return false;
    }
    room->used += bytes;
    *part += bytes;
    *own_bytes += bytes;
    return true;
}

/* ---- jobs ---------------------------------------------------------------------------------- */

/* A project has no tab, a name may. */
static const char *project_of(const char *text, size_t bytes)
{
    const char *tab = memrchr(text, '\t', bytes);
    return tab != NULL ? tab + 1 : NULL;
}

/* Always has room: it is one. */
static uint32_t other_job(struct wio_store_names *names, struct wio_names_user *user)
{
    static const char text[] = WIO_NAMES_OTHER "\t";
    user->lacks_jobs = true;
    if (names->other == 0) {
        (void)!wio_strtab_add(&names->jobs, text, sizeof(text) - 1, &names->other);
    }
    return names->other;
}

/* A name of any bytes but NUL, in the user's project. */
static uint32_t job_named(struct wio_store_names *names, struct wio_names_user *user,
                          const char *name, size_t bytes)
{
    char text[WIO_JOB_BYTES + WIO_WIRE_PROJECT_BYTES + 1];
    const size_t project_bytes = strnlen(user->project, WIO_WIRE_PROJECT_BYTES - 1);
    uint32_t job = 0;
    if (bytes == 0 || bytes > WIO_JOB_BYTES) {
        return 0;
    }
    memcpy(text, name, bytes);
    text[bytes] = '\t';
    memcpy(text + bytes + 1, user->project, project_bytes);
    const size_t all = bytes + 1 + project_bytes;
    job = wio_strtab_find(&names->jobs, text, all);
    if (job != 0) {
        return job;
    }
    if (!take_room(&names->job_room, JOBS_BYTES_MAX, user->uid, &user->job_bytes, all)) {
        return other_job(names, user);
    }
    (void)!wio_strtab_add(&names->jobs, text, all, &job);
    return job;
}

uint32_t wio_names_job(struct wio_store_names *names, struct wio_names_user *user,
                       const struct wio_wire_hello *hello)
{
    return job_named(names, user, hello->job, strlen(hello->job));
}

const char *wio_names_job_text(const struct wio_store_names *names, uint32_t job, size_t *bytes_out)
{
    size_t bytes = 0;
    const char *text = wio_strtab_get(&names->jobs, job, &bytes);
    const char *project = project_of(text, bytes);
    *bytes_out = project != NULL ? (size_t)(project - text) - 1 : 0;
    return text;
}

/* ---- call sites ---------------------------------------------------------------------------- */

/* Clients are random numbers: two of these are equal for want of luck only, and then a text is
 * another one's. */
static uint64_t key_of(uint64_t client, uint32_t source)
{
    return (client + source) * UINT64_C(0x9e3779b97f4a7c15) ^ source;
}

/* Behind the room of jobs, all that is not known counts for WIO_NAMES_OTHER. */
static void lack(struct wio_store_names *names, struct wio_names_user *user, uint32_t job)
{
    if (job != 0) {
        (void)other_job(names, user);
    }
}

void wio_names_define(struct wio_store_names *names, struct wio_names_user *user,
                      const struct wio_store_request *define)
{
    const uint64_t key = key_of(user->client, define->source);
    const uint32_t bytes = define->path_size < TEXT_MAX ? define->path_size : TEXT_MAX;
    uint32_t id = 0;
    if (define->source == 0 || wio_map_get(&names->source_of, key) != NULL) {
        return;
    }
    const uint32_t job = define->op == WIO_STORE_DEFINE_CALLER
                             ? job_named(names, user, define->path2, define->path2_size)
                             : 0;
    if (!take_room(&names->source_room, SOURCES_BYTES_MAX, user->uid, &user->source_bytes, bytes) ||
        wio_strtab_add(&names->sources, define->path, bytes, &id) != WIO_OK ||
        wio_map_put(&names->source_of, key, (uint64_t)job << 32 | id) != WIO_OK) {
        lack(names, user, job);
    }
}

uint32_t wio_names_job_of(const struct wio_store_names *names, const struct wio_names_user *user,
                          uint32_t source)
{
    const uint64_t *known =
        source != 0 ? wio_map_get(&names->source_of, key_of(user->client, source)) : NULL;
    if (known == NULL) {
        return source != 0 && user->lacks_jobs ? names->other : 0;
    }
    return (uint32_t)(*known >> 32);
}

/* ---- telling ------------------------------------------------------------------------------- */

/* True the first time. */
static bool is_news(struct wio_names_told *told, uint64_t key)
{
    return told->keys.hash.count < TOLD_MAX && wio_map_get(&told->keys, key) == NULL &&
           wio_map_put(&told->keys, key, 1) == WIO_OK;
}

/* For people: what is no plain text is quoted, and what is too long is cut. */
static void put_plain(char *to, size_t size, const char *name, size_t bytes)
{
    char quoted[WIO_JOB_QUOTED_BYTES(WIO_WIRE_JOB_BYTES)];
    const size_t most = bytes < WIO_WIRE_JOB_BYTES ? bytes : WIO_WIRE_JOB_BYTES;
    bool is_plain = true;
    for (size_t i = 0; i < most; i++) {
        is_plain = is_plain && (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
    }
    const size_t used = is_plain ? most : wio_job_quote(name, most, quoted);
    (void)snprintf(to, size, "%.*s", (int)used, is_plain ? name : quoted);
}

static void tell_job(const struct wio_store_names *names, uint32_t number, struct wio_link *link)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    size_t bytes = 0;
    size_t name_bytes = 0;
    const char *text = wio_strtab_get(&names->jobs, number, &bytes);
    const char *project = project_of(text, bytes);
    struct wio_wire_job job = {.job = number};
    if (project == NULL) {
        return;
    }
    (void)wio_names_job_text(names, number, &name_bytes);
    put_plain(job.name, sizeof(job.name), text, name_bytes);
    snprintf(job.project, sizeof(job.project), "%s", project);
    if (wio_wire_put_job(&out, &job) == WIO_OK) {
        (void)!wio_link_send(link, &out, NULL, 0);
    }
}

static void tell_source(const struct wio_store_names *names, uint64_t client, uint32_t source,
                        struct wio_link *link)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    const uint64_t *id = wio_map_get(&names->source_of, key_of(client, source));
    uint32_t data_bytes = 0;
    size_t bytes = 0;
    if (id == NULL) {
        return;
    }
    const char *text = wio_strtab_get(&names->sources, (uint32_t)*id, &bytes);
    const struct wio_store_request request = {.op = WIO_STORE_DEFINE_SOURCE,
                                              .txn = {.client = client},
                                              .source = source,
                                              .path = text,
                                              .path_size = (uint32_t)bytes};
    if (wio_wire_put_request(&out, &request, &data_bytes) == WIO_OK) {
        (void)!wio_link_send(link, &out, NULL, 0);
    }
}

void wio_names_tell(const struct wio_store_names *names, struct wio_names_told *told,
                    const struct wio_lock_blocker *blocker, struct wio_link *link)
{
    if (blocker->job != 0 && is_news(told, blocker->job)) {
        tell_job(names, blocker->job, link);
    }
    if (blocker->source != 0 && is_news(told, key_of(blocker->txn.client, blocker->source))) {
        tell_source(names, blocker->txn.client, blocker->source, link);
    }
}
