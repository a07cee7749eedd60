/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped files: mapped and unmapped as recorded, at an address of the kernel's choice. Loads
 * through a mapping are not in a trace, stores by record's --mmap-pages alone.
 */
#include "replay/perform/perform.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ops/calls.h"

#define FLAGS_ALLOWED (MAP_SHARED | MAP_PRIVATE | MAP_POPULATE | MAP_NONBLOCK)

struct rp_mapping {
    void *address; /* NULL = unmapped: the place is free */
    size_t bytes;  /* of a free one: the next free one's index + 1 */
};

/* The map that an event is about, by where it began in the program: arg3, which older traces do not
 * have; there only what begins with the map is found. */
static uint64_t origin_of(const struct wio_event *event)
{
    return (uint64_t)(event->arg[3] != 0 ? event->arg[3] : event->arg[2]);
}

static void forget(struct rp_worker *worker, const struct wio_event *event,
                   struct rp_mapping *mapping)
{
    mapping->address = NULL;
    mapping->bytes = worker->mapped_free;
    worker->mapped_free = (uint32_t)(mapping - worker->mapped) + 1;
    (void)wio_map_remove(&worker->mappings, origin_of(event));
}

static struct rp_mapping *mapping_of(struct rp_worker *worker, const struct wio_event *event)
{
    const uint64_t *index = wio_map_get(&worker->mappings, origin_of(event));
    return index == NULL ? NULL : &worker->mapped[*index];
}

static enum wio_status remember(struct rp_worker *worker, const struct wio_event *event,
                                void *address, size_t bytes)
{
    uint32_t at = worker->mapped_free;
    const uint64_t *old = wio_map_get(&worker->mappings, (uint64_t)event->result);
    if (old != NULL) { /* it was unmapped by something that was not seen */
        (void)munmap(worker->mapped[*old].address, worker->mapped[*old].bytes);
        worker->mapped[*old] = (struct rp_mapping){address, bytes};
        return WIO_OK;
    }
    if (at != 0) {
        worker->mapped_free = (uint32_t)worker->mapped[--at].bytes;
    } else {
        at = worker->mapped_count;
        struct rp_mapping *mapped = reallocarray(worker->mapped, (size_t)at + 1, sizeof(*mapped));
        if (mapped == NULL) {
            return WIO_ERR_NOMEM;
        }
        worker->mapped = mapped;
        worker->mapped_count++;
    }
    worker->mapped[at] = (struct rp_mapping){address, bytes};
    return wio_map_put(&worker->mappings, (uint64_t)event->result, at);
}

static void map(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    int fd = rp_fd_use(worker, event, out);
    if (fd < 0) {
        return;
    }
    int flags = (int)event->arg[1] & FLAGS_ALLOWED;
    if ((flags & (MAP_SHARED | MAP_PRIVATE)) == 0) {
        flags |= MAP_SHARED;
    }
    flags |= (flags & MAP_PRIVATE) != 0 ? MAP_NORESERVE : 0;
    size_t bytes = event->size == WIO_NO_SIZE ? 0 : (size_t)event->size;
    void *address = mmap(NULL, bytes, (int)event->arg[0] & (PROT_READ | PROT_WRITE), flags, fd,
                         event->offset == WIO_NO_OFFSET ? 0 : event->offset);
    rp_done(out, address == MAP_FAILED ? -1 : 0);
    if (address != MAP_FAILED && remember(worker, event, address, bytes) != WIO_OK) {
        (void)munmap(address, bytes);
    }
}

struct mapped_range {
    uint8_t *address;
    size_t bytes;
};

/* What of a mapping lies in the event's range. */
static struct mapped_range part_of(const struct wio_event *event, const struct rp_mapping *mapping)
{
    uint64_t begin = (uint64_t)event->arg[2];
    uint64_t origin = origin_of(event);
    uint64_t before = begin < origin ? origin - begin : 0;
    uint64_t skip = begin > origin ? begin - origin : 0;
    uint64_t bytes = event->size > before ? event->size - before : 0;
    skip = skip < mapping->bytes ? skip : mapping->bytes;
    bytes = bytes < mapping->bytes - skip ? bytes : mapping->bytes - skip;
    return (struct mapped_range){(uint8_t *)mapping->address + skip, (size_t)bytes};
}

/* A part is replaced by inaccessible memory, so that no other mapping comes to lie within this
 * one. */
static void unmap(struct rp_worker *worker, const struct wio_event *event,
                  struct rp_mapping *mapping, struct rp_outcome *out)
{
    struct mapped_range part = part_of(event, mapping);
    if (part.bytes == mapping->bytes) {
        rp_done(out, munmap(mapping->address, mapping->bytes));
        forget(worker, event, mapping);
        return;
    }
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    rp_done(out, mmap(part.address, part.bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED ? -1 : 0);
}

/* By a system call: a file that is shorter here, or a map that cannot be written to, is an error
 * then and not a signal. */
static ssize_t store(struct rp_worker *worker, const struct wio_event *event, uint8_t *to)
{
    size_t done = 0;
    while (done < event->size) {
        size_t left = (size_t)event->size - done;
        size_t bytes = left < worker->run->source.size ? left : worker->run->source.size;
        const struct iovec from = {rp_source(worker, event, bytes), bytes};
        const struct iovec target = {to + done, bytes};
        ssize_t got = process_vm_writev(getpid(), &from, 1, &target, 1, 0);
        if (got <= 0) {
            return got;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

void rp_do_store(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    const uint64_t *index = wio_map_get(&worker->mappings, (uint64_t)event->arg[3]);
    const struct rp_mapping *mapping = index == NULL ? NULL : &worker->mapped[*index];
    uint64_t begin = (uint64_t)event->arg[2] - (uint64_t)event->arg[3];
    if (mapping == NULL || mapping->address == NULL || begin > mapping->bytes ||
        event->size > mapping->bytes - begin) {
        rp_skip(out, WIO_REPLAY_SKIP_MEMORY);
        return;
    }
    rp_done(out, store(worker, event, (uint8_t *)mapping->address + begin));
}

void rp_do_map(struct rp_worker *worker, const struct wio_event *event, struct rp_outcome *out)
{
    if (event->op == WIO_OP_mmap) {
        map(worker, event, out);
        return;
    }
    struct rp_mapping *mapping = mapping_of(worker, event);
    if (mapping == NULL || mapping->address == NULL) {
        rp_skip(out, WIO_REPLAY_SKIP_MEMORY);
        return;
    }
    switch (event->op) {
    case WIO_OP_msync: {
        struct mapped_range part = part_of(event, mapping);
        rp_done(out, msync(part.address, part.bytes,
                           (int)event->arg[0] & (MS_ASYNC | MS_SYNC | MS_INVALIDATE)));
        break;
    }
    case WIO_OP_munmap:
        unmap(worker, event, mapping, out);
        break;
    default: /* mremap, madvise: about memory, not about the file */
        rp_skip(out, WIO_REPLAY_SKIP_MEMORY);
        break;
    }
}
