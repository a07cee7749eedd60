/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/preamble.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/grow.h"

enum { GRANT_MAX = 256, SOURCES_MAX = 1 << 20 };

struct grant {
    uint8_t bytes[GRANT_MAX];
    uint32_t size;
};

/* A file and what was granted. */
struct granted {
    uint64_t file;
    uint32_t users;
    uint32_t count;
    uint32_t room;
    struct grant *grants;
    struct told *told; /* of each target */
};

/* How many of the grants the connection number `connection` has heard. */
struct told {
    uint32_t connection;
    uint32_t count;
};

struct wio_preamble {
    uint16_t targets;
    struct wio_map files;      /* file -> struct granted */
    struct wio_strtab sources; /* call site; with a job: call site, NUL, job */
    struct wio_blob caller;    /* one of the latter that is being made */
    bool *knows_jobs;          /* of each target */
    uint32_t *connections;     /* of each target: a number that each connection has for itself */
    uint8_t *sources_told;     /* a bit for each target and source */
    uint32_t sources_room;
};

static void granted_free(struct granted *granted)
{
    free(granted->grants);
    free(granted->told);
    free(granted);
}

void wio_preamble_destroy(struct wio_preamble *preamble)
{
    struct wio_map_entry *entry = NULL;
    size_t i = 0;
    if (preamble == NULL) {
        return;
    }
    while ((entry = wio_map_each(&preamble->files, &i)) != NULL) {
        granted_free((struct granted *)(uintptr_t)entry->value);
    }
    wio_map_fini(&preamble->files);
    wio_strtab_fini(&preamble->sources);
    wio_blob_fini(&preamble->caller);
    free(preamble->knows_jobs);
    free(preamble->connections);
    free(preamble->sources_told);
    free(preamble);
}

struct wio_preamble *wio_preamble_create(uint16_t targets)
{
    struct wio_preamble *preamble = calloc(1, sizeof(*preamble));
    uint32_t *connections = calloc(targets > 0 ? targets : 1, sizeof(*connections));
    bool *knows_jobs = calloc(targets > 0 ? targets : 1, sizeof(*knows_jobs));
    if (preamble == NULL || connections == NULL || knows_jobs == NULL) {
        free(preamble);
        free(connections);
        free(knows_jobs);
        return NULL;
    }
    preamble->targets = targets;
    preamble->knows_jobs = knows_jobs;
    preamble->connections = connections;
    return preamble;
}

/* ---- grants -------------------------------------------------------------------------------- */

static struct granted *find(const struct wio_preamble *preamble, uint64_t file)
{
    const uint64_t *value = wio_map_get(&preamble->files, file);
    return value != NULL ? (struct granted *)(uintptr_t)*value : NULL;
}

static struct granted *find_or_add(struct wio_preamble *preamble, uint64_t file)
{
    struct granted *granted = find(preamble, file);
    if (granted != NULL) {
        return granted;
    }
    granted = calloc(1, sizeof(*granted));
    if (granted == NULL) {
        return NULL;
    }
    granted->file = file;
    granted->told = calloc(preamble->targets, sizeof(*granted->told));
    if (granted->told == NULL ||
        wio_map_put(&preamble->files, file, (uint64_t)(uintptr_t)granted) != WIO_OK) {
        granted_free(granted);
        return NULL;
    }
    return granted;
}

static bool has(const struct granted *granted, const void *grant, size_t bytes)
{
    for (uint32_t i = 0; i < granted->count; i++) {
        if (granted->grants[i].size == bytes &&
            memcmp(granted->grants[i].bytes, grant, bytes) == 0) {
            return true;
        }
    }
    return false;
}

enum wio_status wio_preamble_add_grant(struct wio_preamble *preamble, uint64_t file,
                                       const void *grant, size_t bytes)
{
    if (bytes > GRANT_MAX) {
        return WIO_ERR_FORMAT;
    }
    struct granted *granted = find_or_add(preamble, file);
    if (granted == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (bytes > 0 && !has(granted, grant, bytes)) {
        WIO_TRY(wio_grow((void **)&granted->grants, sizeof(*granted->grants), &granted->room,
                         granted->count + 1));
        struct grant *last = &granted->grants[granted->count++];
        memcpy(last->bytes, grant, bytes);
        last->size = (uint32_t)bytes;
    }
    granted->users++;
    return WIO_OK;
}

void wio_preamble_drop_grants(struct wio_preamble *preamble, uint64_t file)
{
    struct granted *granted = find(preamble, file);
    if (granted != NULL && --granted->users == 0) {
        (void)wio_map_remove(&preamble->files, file);
        granted_free(granted);
    }
}

static void show(struct wio_preamble *preamble, uint16_t target, struct granted *granted,
                 wio_preamble_send *send, void *context)
{
    struct told *told = &granted->told[target];
    if (told->connection != preamble->connections[target]) {
        *told = (struct told){preamble->connections[target], 0};
    }
    while (told->count < granted->count) {
        const struct grant *grant = &granted->grants[told->count];
        const struct wio_store_request request = {
            .op = WIO_STORE_SHOW, .data = grant->bytes, .data_size = grant->size};
        if (!send(context, target, &request)) {
            return;
        }
        told->count++;
    }
}

/* ---- call sites ---------------------------------------------------------------------------- */

static size_t bits_of(const struct wio_preamble *preamble, uint32_t source)
{
    return (size_t)source * preamble->targets;
}

static uint32_t number_of(struct wio_preamble *preamble, const char *text, size_t bytes)
{
    uint32_t id = 0;
    if (preamble->sources.count >= SOURCES_MAX ||
        wio_strtab_add(&preamble->sources, text, bytes, &id) != WIO_OK ||
        wio_grow((void **)&preamble->sources_told, 1, &preamble->sources_room,
                 (uint32_t)(bits_of(preamble, id + 1) / 8 + 1)) != WIO_OK) {
        return 0;
    }
    return id;
}

uint32_t wio_preamble_source(struct wio_preamble *preamble, const char *text, size_t bytes)
{
    bool is_text = bytes > 0 && bytes <= WIO_STORE_PATH_MAX && memchr(text, '\0', bytes) == NULL;
    return is_text ? number_of(preamble, text, bytes) : 0;
}

uint32_t wio_preamble_caller(struct wio_preamble *preamble, uint32_t source, const char *job,
                             size_t bytes)
{
    size_t site_bytes = 0;
    const char *site = wio_strtab_get(&preamble->sources, source, &site_bytes);
    if (bytes == 0 || bytes > WIO_STORE_PATH_MAX || memchr(job, '\0', bytes) != NULL) {
        return 0;
    }
    wio_blob_clear(&preamble->caller);
    bool is_ok = wio_blob_put(&preamble->caller, site, site_bytes + 1) == WIO_OK &&
                 wio_blob_put(&preamble->caller, job, bytes) == WIO_OK;
    return is_ok ? number_of(preamble, (const char *)preamble->caller.data, preamble->caller.size)
                 : 0;
}

/* False: there is nothing to tell this target. */
static bool definition(const struct wio_preamble *preamble, uint16_t target, uint32_t source,
                       struct wio_store_request *request_out)
{
    size_t bytes = 0;
    const char *text = wio_strtab_get(&preamble->sources, source, &bytes);
    size_t site_bytes = strnlen(text, bytes);
    *request_out = (struct wio_store_request){.op = WIO_STORE_DEFINE_SOURCE,
                                              .source = source,
                                              .path = text,
                                              .path_size = (uint32_t)site_bytes};
    if (site_bytes < bytes && preamble->knows_jobs[target]) {
        request_out->op = WIO_STORE_DEFINE_CALLER;
        request_out->path2 = text + site_bytes + 1;
        request_out->path2_size = (uint32_t)(bytes - site_bytes - 1);
        return true;
    }
    return site_bytes > 0;
}

static void define(struct wio_preamble *preamble, uint16_t target, uint32_t source,
                   wio_preamble_send *send, void *context)
{
    size_t bit = bits_of(preamble, source) + target;
    uint8_t mask = (uint8_t)(1u << (bit % 8));
    struct wio_store_request request;
    if (source > preamble->sources.count || (preamble->sources_told[bit / 8] & mask) != 0) {
        return;
    }
    if (!definition(preamble, target, source, &request) || send(context, target, &request)) {
        preamble->sources_told[bit / 8] |= mask;
    }
}

void wio_preamble_connected(struct wio_preamble *preamble, uint16_t target, bool knows_jobs)
{
    preamble->knows_jobs[target] = knows_jobs;
    preamble->connections[target]++;
    for (uint32_t source = 0; source <= preamble->sources.count; source++) {
        size_t bit = bits_of(preamble, source) + target;
        if (bit / 8 < preamble->sources_room) {
            preamble->sources_told[bit / 8] &= (uint8_t) ~(1u << (bit % 8));
        }
    }
}

void wio_preamble_before(struct wio_preamble *preamble, uint16_t target,
                         const struct wio_store_request *request, wio_preamble_send *send,
                         void *context)
{
    struct granted *granted = request->file != 0 ? find(preamble, request->file) : NULL;
    if (granted != NULL) {
        show(preamble, target, granted, send, context);
    }
    if (request->source != 0) {
        define(preamble, target, request->source, send, context);
    }
}
