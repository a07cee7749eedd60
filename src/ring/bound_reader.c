/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/bound_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/io.h"

/* States that are read at once. */
#define STATES 512u

static uint64_t state_at(uint64_t index)
{
    return WIO_BOUND_HEADER_BYTES + index * sizeof(uint64_t);
}

static uint64_t place_at(const struct wio_bound *bound, uint64_t index)
{
    return bound->header.data_offset + index * WIO_CHUNK_BYTES;
}

/* R-BOUND-1 */
static enum wio_status check_header(const struct wio_bound *bound, uint64_t file_bytes,
                                    struct wio_error *err)
{
    const struct wio_bound_header *header = &bound->header;
    if (memcmp(header->magic, WIO_BOUND_MAGIC, sizeof(header->magic)) != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, bound->path, 0,
                             "expected the bound of a recording that begins with WIOBOUN");
    }
    if (header->version != WIO_BOUND_VERSION) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, bound->path,
                             offsetof(struct wio_bound_header, version),
                             "expected version %u, found %u", WIO_BOUND_VERSION, header->version);
    }
    if (header->data_offset < WIO_BOUND_HEADER_BYTES || header->data_offset > file_bytes ||
        header->data_offset - WIO_BOUND_HEADER_BYTES >
            WIO_BOUND_MAX_BYTES / WIO_CHUNK_BYTES * sizeof(uint64_t)) {
        return wio_error_set(
            err, WIO_ERR_FORMAT, bound->path, offsetof(struct wio_bound_header, data_offset),
            "expected places within the %llu bytes of the file, found them at "
            "%llu",
            (unsigned long long)file_bytes, (unsigned long long)header->data_offset);
    }
    return WIO_OK;
}

/* Places that the table has states for, and the file has bytes of. */
static uint64_t place_count(const struct wio_bound *bound, uint64_t file_bytes)
{
    const uint64_t table = (bound->header.data_offset - WIO_BOUND_HEADER_BYTES) / sizeof(uint64_t);
    const uint64_t held = (file_bytes - bound->header.data_offset) / WIO_CHUNK_BYTES;
    return table < held ? table : held;
}

static bool holds_chunk(uint64_t state)
{
    switch (wio_place_kind(state)) {
    case WIO_PLACE_STORED:
    case WIO_PLACE_LIVE:
    case WIO_PLACE_LEFT:
        return true;
    case WIO_PLACE_FREE:
    case WIO_PLACE_BUSY: /* its process died over it: it may hold two halves */
    default:
        return false;
    }
}

static enum wio_status add_chunk(struct wio_bound *bound, uint64_t index, uint64_t state,
                                 struct wio_error *err)
{
    struct wio_chunk_header header;
    WIO_TRY(
        wio_io_pread(bound->fd, bound->path, &header, sizeof(header), place_at(bound, index), err));
    if (header.magic != WIO_CHUNK_MAGIC || header.writer == WIO_TEXT_WRITER) {
        return WIO_OK;
    }
    void *chunks = bound->chunks;
    if (wio_make_room(&chunks, sizeof(*bound->chunks), &bound->capacity, bound->count + 1) !=
        WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, bound->path, WIO_ERROR_NO_OFFSET,
                             "no memory for %u chunks", bound->count + 1);
    }
    bound->chunks = chunks;
    bound->chunks[bound->count++] = (struct wio_bound_chunk){
        .ring_pid = header.ring_pid,
        .ring_ns = header.ring_ns,
        .writer = header.writer,
        .chunk_no = header.chunk_no,
        .index = index,
        .state = state,
    };
    return WIO_OK;
}

static int compare(int32_t pid, uint64_t ns, const struct wio_bound_chunk *chunk)
{
    if (pid != chunk->ring_pid) {
        return pid < chunk->ring_pid ? -1 : 1;
    }
    return (ns > chunk->ring_ns) - (ns < chunk->ring_ns);
}

static int compare_chunks(const void *a, const void *b)
{
    const struct wio_bound_chunk *left = a;
    const struct wio_bound_chunk *right = b;
    int order = compare(left->ring_pid, left->ring_ns, right);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static enum wio_status list_chunks(struct wio_bound *bound, uint64_t places, struct wio_error *err)
{
    uint64_t states[STATES];
    for (uint64_t first = 0; first < places; first += STATES) {
        const uint64_t count = places - first < STATES ? places - first : STATES;
        WIO_TRY(wio_io_pread(bound->fd, bound->path, states, (size_t)count * sizeof(states[0]),
                             state_at(first), err));
        for (uint64_t i = 0; i < count; i++) {
            if (holds_chunk(states[i])) {
                WIO_TRY(add_chunk(bound, first + i, states[i], err));
            }
        }
    }
    if (bound->count > 0) {
        qsort(bound->chunks, bound->count, sizeof(*bound->chunks), compare_chunks);
    }
    return WIO_OK;
}

enum wio_status wio_bound_open(struct wio_bound *bound, int dir, const char *name, uid_t owner,
                               const char *path, struct wio_error *err)
{
    *bound =
        (struct wio_bound){.path = strdup(path), .fd = wio_io_open_regular(dir, name, O_NOFOLLOW)};
    struct stat st;
    if (bound->path == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    if (bound->fd < 0 && errno == ENOENT) {
        return WIO_END;
    }
    if (bound->fd < 0 || fstat(bound->fd, &st) != 0) {
        return wio_error_sys(err, path, "cannot open the bound of the recording");
    }
    if (st.st_uid != owner || st.st_size < (off_t)WIO_BOUND_HEADER_BYTES) {
        return WIO_END;
    }
    WIO_TRY(wio_io_pread(bound->fd, path, &bound->header, sizeof(bound->header), 0, err));
    WIO_TRY(check_header(bound, (uint64_t)st.st_size, err));
    return list_chunks(bound, place_count(bound, (uint64_t)st.st_size), err);
}

void wio_bound_close(struct wio_bound *bound)
{
    wio_fd_cleanup(&bound->fd);
    free(bound->path);
    free(bound->chunks);
    *bound = (struct wio_bound)WIO_BOUND_INIT;
}

const struct wio_bound_chunk *wio_bound_find(const struct wio_bound *bound, int32_t ring_pid,
                                             uint64_t ring_ns, uint32_t *count_out)
{
    const struct wio_bound_chunk *chunks = bound->chunks;
    const size_t first = WIO_FIRST(i, 0, bound->count, compare(ring_pid, ring_ns, &chunks[i]) <= 0);
    size_t end = first;
    while (end < bound->count && compare(ring_pid, ring_ns, &chunks[end]) == 0) {
        end++;
    }
    *count_out = (uint32_t)(end - first);
    return chunks != NULL ? &chunks[first] : NULL;
}

enum wio_status wio_bound_read(const struct wio_bound *bound, const struct wio_bound_chunk *chunk,
                               void *bytes_out, struct wio_error *err)
{
    uint64_t state = 0;
    WIO_TRY(wio_io_pread(bound->fd, bound->path, bytes_out, WIO_CHUNK_BYTES,
                         place_at(bound, chunk->index), err));
    WIO_TRY(
        wio_io_pread(bound->fd, bound->path, &state, sizeof(state), state_at(chunk->index), err));
    if (state != chunk->state) {
        memset(bytes_out, 0, WIO_CHUNK_BYTES);
    }
    return WIO_OK;
}
