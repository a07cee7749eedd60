/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/names.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/names.h"
#include "job/quote.h"
#include "store/wire/message.h"

/* Bounds of what clients can make a target keep. */
enum {
    JOBS_MAX = 1 << 20,
    JOB_TEXTS_MAX = 64 << 20, /* bytes */
    SOURCES_MAX = 1 << 20,
    TEXT_MAX = 1024,
    TOLD_MAX = 1 << 16
};

void wio_names_fini(struct wio_store_names *names)
{
    wio_strtab_fini(&names->jobs);
    wio_strtab_fini(&names->sources);
    wio_map_fini(&names->source_of);
}

void wio_names_told_fini(struct wio_names_told *told)
{
    wio_map_fini(&told->keys);
}

/* A project has no tab, a name may. */
static const char *project_of(const char *text, size_t bytes)
{
    const char *tab = memrchr(text, '\t', bytes);
    return tab != NULL ? tab + 1 : NULL;
}

uint32_t wio_names_job_named(struct wio_store_names *names, const char *name, size_t bytes,
                             const char *project)
{
    char text[WIO_JOB_BYTES + WIO_WIRE_PROJECT_BYTES + 1];
    const size_t project_bytes = strnlen(project, WIO_WIRE_PROJECT_BYTES - 1);
    uint32_t job = 0;
    if (bytes == 0 || bytes > WIO_JOB_BYTES) {
        return 0;
    }
    memcpy(text, name, bytes);
    text[bytes] = '\t';
    memcpy(text + bytes + 1, project, project_bytes);
    const size_t all = bytes + 1 + project_bytes;
    job = wio_strtab_find(&names->jobs, text, all);
    if (job == 0 && names->jobs.count < JOBS_MAX && names->jobs.size < JOB_TEXTS_MAX) {
        (void)!wio_strtab_add(&names->jobs, text, all, &job);
    }
    return job;
}

uint32_t wio_names_job(struct wio_store_names *names, const struct wio_wire_hello *hello)
{
    return wio_names_job_named(names, hello->job, strlen(hello->job), hello->project);
}

const char *wio_names_job_text(const struct wio_store_names *names, uint32_t job, size_t *bytes_out)
{
    size_t bytes = 0;
    const char *text = wio_strtab_get(&names->jobs, job, &bytes);
    const char *project = project_of(text, bytes);
    *bytes_out = project != NULL ? (size_t)(project - text) - 1 : 0;
    return text;
}

/* Clients are random numbers: two of these are equal for want of luck only, and then a text is
 * another one's. */
static uint64_t key_of(uint64_t client, uint32_t source)
{
    return (client + source) * UINT64_C(0x9e3779b97f4a7c15) ^ source;
}

void wio_names_define(struct wio_store_names *names, uint64_t client,
                      const struct wio_store_request *define, uint32_t job)
{
    const uint64_t key = key_of(client, define->source);
    const uint32_t bytes = define->path_size < TEXT_MAX ? define->path_size : TEXT_MAX;
    uint32_t id = 0;
    if (define->source == 0 || names->source_of.hash.count >= SOURCES_MAX ||
        wio_map_get(&names->source_of, key) != NULL ||
        wio_strtab_add(&names->sources, define->path, bytes, &id) != WIO_OK) {
        return;
    }
    (void)!wio_map_put(&names->source_of, key, (uint64_t)job << 32 | id);
}

uint32_t wio_names_job_of(const struct wio_store_names *names, uint64_t client, uint32_t source)
{
    const uint64_t *known =
        source != 0 ? wio_map_get(&names->source_of, key_of(client, source)) : NULL;
    return known != NULL ? (uint32_t)(*known >> 32) : 0;
}

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
