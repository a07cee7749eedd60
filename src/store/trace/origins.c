/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trace/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* Bounds of what clients can make a target keep. */
enum { CLIENTS_MAX = 1 << 16, SOURCES_MAX = 1 << 20, TEXT_MAX = 1024, TEXTS_MAX = 256 << 20 };

void tracer_origins_init(struct tracer_origins *origins)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    *origins = (struct tracer_origins){0};
    wio_pair_map_init(&origins->sources, &heap);
    wio_pair_map_init(&origins->jobs, &heap);
    wio_pair_map_init(&origins->known, &heap);
}

void tracer_origins_fini(struct tracer_origins *origins)
{
    wio_strtab_fini(&origins->texts);
    wio_map_fini(&origins->client_index);
    free(origins->clients);
    wio_pair_map_fini(&origins->sources);
    wio_pair_map_fini(&origins->jobs);
    wio_pair_map_fini(&origins->known);
}

void tracer_origins_clear(struct tracer_origins *origins)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    wio_pair_map_fini(&origins->known);
    wio_pair_map_init(&origins->known, &heap);
}

static uint32_t text_of(struct tracer_origins *origins, const char *text, size_t bytes, size_t most)
{
    uint32_t id = 0;
    if (origins->texts.size < TEXTS_MAX) {
        (void)!wio_strtab_add(&origins->texts, text, bytes < most ? bytes : most, &id);
    }
    return id;
}

void tracer_origins_client(struct tracer_origins *origins, const struct wio_wire_hello *hello)
{
    void *array = origins->clients;
    if (wio_map_get(&origins->client_index, hello->client) != NULL ||
        origins->client_count >= CLIENTS_MAX ||
        wio_grow(&array, sizeof(*origins->clients), &origins->client_capacity,
                 origins->client_count + 1) != WIO_OK) {
        return;
    }
    origins->clients = array;
    if (wio_map_put(&origins->client_index, hello->client, origins->client_count) == WIO_OK) {
        origins->clients[origins->client_count++] = (struct tracer_client){
            .job = text_of(origins, hello->job, strlen(hello->job), TEXT_MAX),
            .exe = text_of(origins, hello->executable, strlen(hello->executable), TEXT_MAX),
            .host = text_of(origins, hello->host, strlen(hello->host), TEXT_MAX)};
    }
}

void tracer_origins_source(struct tracer_origins *origins, uint64_t client,
                           const struct wio_store_request *define)
{
    uint32_t source = define->source;
    if (origins->sources.hash.count >= SOURCES_MAX ||
        wio_pair_map_get(&origins->sources, client, source) != WIO_NO_INDEX) {
        return;
    }
    (void)!wio_pair_map_put(&origins->sources, client, source,
                            text_of(origins, define->path, define->path_size, TEXT_MAX));
    if (define->op == WIO_STORE_DEFINE_CALLER) {
        (void)!wio_pair_map_put(
            &origins->jobs, client, source,
            text_of(origins, define->path2, define->path2_size, WIO_STORE_PATH_MAX));
    }
}

static uint32_t make(struct tracer_origins *origins, struct wio_txn_writer *writer, uint64_t client,
                     uint32_t source)
{
    const uint64_t *index = wio_map_get(&origins->client_index, client);
    uint32_t place = wio_pair_map_get(&origins->sources, client, source);
    uint32_t job = wio_pair_map_get(&origins->jobs, client, source);
    struct tracer_client known = {0};
    uint32_t id = 0;
    if (index != NULL) {
        known = origins->clients[*index];
    }
    known.job = job != WIO_NO_INDEX ? job : known.job;
    const struct wio_txn_origin origin = {
        .job = wio_strtab_get(&origins->texts, known.job, NULL),
        .exe = wio_strtab_get(&origins->texts, known.exe, NULL),
        .host = wio_strtab_get(&origins->texts, known.host, NULL),
        .place = wio_strtab_get(&origins->texts, place == WIO_NO_INDEX ? 0 : place, NULL)};
    return wio_txn_writer_origin(writer, &origin, &id, NULL) == WIO_OK ? id : 0;
}

uint32_t tracer_origins_find(struct tracer_origins *origins, struct wio_txn_writer *writer,
                             uint64_t client, uint32_t source)
{
    uint32_t id = wio_pair_map_get(&origins->known, client, source);
    if (id != WIO_NO_INDEX) {
        return id;
    }
    id = make(origins, writer, client, source);
    if (origins->known.hash.count < SOURCES_MAX) {
        (void)!wio_pair_map_put(&origins->known, client, source, id);
    }
    return id;
}
