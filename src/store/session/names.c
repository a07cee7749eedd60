/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/names.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/wire/message.h"

/* Bounds of what clients can make a target keep. */
enum { JOBS_MAX = 1 << 16, SOURCES_MAX = 1 << 18, TEXT_MAX = 1024, TOLD_MAX = 1 << 16 };

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

uint32_t wio_names_job(struct wio_store_names *names, const struct wio_wire_hello *hello)
{
    char text[WIO_WIRE_JOB_BYTES + WIO_WIRE_PROJECT_BYTES + 1];
    uint32_t job = 0;
    int bytes = snprintf(text, sizeof(text), "%s\t%s", hello->job, hello->project);
    if (hello->job[0] == '\0') {
        return 0;
    }
    job = wio_strtab_find(&names->jobs, text, (size_t)bytes);
    if (job == 0 && names->jobs.count < JOBS_MAX) {
        (void)!wio_strtab_add(&names->jobs, text, (size_t)bytes, &job);
    }
    return job;
}

/* Clients are random numbers: two of these are equal for want of luck only, and then a text is
 * another one's. */
static uint64_t key_of(uint64_t client, uint32_t source)
{
    return (client + source) * UINT64_C(0x9e3779b97f4a7c15) ^ source;
}

void wio_names_define(struct wio_store_names *names, uint64_t client, uint32_t source,
                      const char *text, uint32_t bytes)
{
    uint32_t id = 0;
    if (source == 0 || names->source_of.hash.count >= SOURCES_MAX ||
        wio_map_get(&names->source_of, key_of(client, source)) != NULL ||
        wio_strtab_add(&names->sources, text, bytes < TEXT_MAX ? bytes : TEXT_MAX, &id) != WIO_OK) {
        return;
    }
    (void)!wio_map_put(&names->source_of, key_of(client, source), id);
}

/* True the first time. */
static bool is_news(struct wio_names_told *told, uint64_t key)
{
    return told->keys.hash.count < TOLD_MAX && wio_map_get(&told->keys, key) == NULL &&
           wio_map_put(&told->keys, key, 1) == WIO_OK;
}

static void tell_job(const struct wio_store_names *names, uint32_t number, struct wio_link *link)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    size_t bytes = 0;
    const char *text = wio_strtab_get(&names->jobs, number, &bytes);
    const char *tab = memchr(text, '\t', bytes);
    struct wio_wire_job job = {.job = number};
    if (tab == NULL) {
        return;
    }
    snprintf(job.name, sizeof(job.name), "%.*s", (int)(tab - text), text);
    snprintf(job.project, sizeof(job.project), "%s", tab + 1);
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
