/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory maps of files. Loads and stores through a map are no calls; pages.c can tell which pages
 * were written.
 * Anonymous memory is not I/O and passes through after one comparison. libc's own maps (malloc, the
 * loader) do not come here.
 */
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "capture/async/uring.h"
#include "capture/core/capture.h"
#include "capture/core/features.h"
#include "capture/files/descriptors.h"
#include "capture/mmap/mmap_record.h"
#include "capture/mmap/mmap_table.h"
#include "capture/mmap/pages.h"

#undef mmap
#undef mmap64

static int64_t address_of(const void *address)
{
    return (int64_t)(uintptr_t)address;
}

/* ---- mmap: result = address, arg0 = protection, arg1 = flags ----------------------------------
 */

static void emit_mmap(struct cap_thread *self, struct cap_event *ev, const struct cap_mapping *map)
{
    struct cap_ext ext = CAP_EXT;
    bool is_done = map->address != MAP_FAILED;
    ev->end = cap_now();
    ev->error = is_done ? 0 : errno;
    ev->result = is_done ? address_of(map->address) : -1;
    ev->fd = map->fd;
    ev->path = cap_fd_path(self, map->fd);
    ev->offset = map->offset;
    ev->size = map->size;
    ext.arg[0] = map->protection;
    ext.arg[1] = map->flags;
    cap_emit_ext(self, ev, &ext);
}

/* Remember it: a file's, that is recorded (`path`), or shared memory. */
static void note(const struct cap_mapping *map, bool is_recorded, uint32_t path)
{
    struct cap_map noted = {.address = (uintptr_t)map->address,
                            .origin = (uintptr_t)map->address,
                            .size = map->size,
                            .offset = map->offset,
                            .path = path,
                            .kinds = is_recorded ? CAP_MAP_FILE : 0};
    cap_on_mapped(&noted, map->flags, map->fd);
    if (is_recorded) {
        cap_pages_watch(&noted, map->fd, map->flags);
    }
    if (noted.kinds != 0) {
        /* what is known there was unmapped unseen */
        cap_maps_remove(noted.address, cap_whole_pages(noted.size));
        cap_maps_add(&noted);
    }
}

/* Else the kernel refuses to unmap it. */
static bool is_range(const void *address, size_t size)
{
    return (uintptr_t)address % getauxval(AT_PAGESZ) == 0 && size != 0;
}

/* MAP_FIXED takes the place of what was there. */
static void before_mmap(const struct cap_mapping *map, uintptr_t source, unsigned call)
{
    if ((map->flags & MAP_FIXED) != 0 && is_range(map->address, map->size)) {
        cap_pages_report(source, call, (uintptr_t)map->address, map->size);
        cap_maps_remove((uintptr_t)map->address, cap_whole_pages(map->size));
        cap_uring_unmapped(source, call, map->address, map->size);
    }
}

static void *call_mmap(cap_mmap_fn *real, const struct cap_mapping *map)
{
    return real(map->address, map->size, map->protection, map->flags, map->fd, map->offset);
}

void *cap_record_mmap(uintptr_t source, unsigned call, cap_mmap_fn *real, struct cap_mapping map)
{
    before_mmap(&map, source, call);
    const bool is_file = (map.flags & MAP_ANONYMOUS) == 0;
    if (is_file && cap_fd_is_ours_maybe(map.fd)) {
        errno = EBADF;
        return MAP_FAILED;
    }
    struct cap_thread *self = is_file ? cap_enter_fd(source, call, map.fd) : NULL;
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = CAP_LIKELY(self == NULL) ? 0 : cap_begin(self);
    map.address = call_mmap(real, &map);
    if (self != NULL) {
        emit_mmap(self, &ev, &map);
    }
    if (is_file && map.address != MAP_FAILED) { /* an MPI library's ring, too */
        cap_uring_mapped(map.fd, (uint64_t)map.offset, map.address, map.size);
    }
    if (map.address != MAP_FAILED && (self != NULL || (map.flags & MAP_SHARED) != 0)) {
        note(&map, self != NULL, ev.path);
    }
    return map.address;
}

CAP_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return cap_record_mmap(CAP_CALLER(), WIO_CALL_mmap, CAP_REAL(mmap),
                           (struct cap_mapping){address, size, protection, flags, fd, offset});
}

CAP_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return cap_record_mmap(CAP_CALLER(), WIO_CALL_mmap64, CAP_REAL(mmap64),
                           (struct cap_mapping){address, size, protection, flags, fd, offset});
}

/* ---- the others -------------------------------------------------------------------------------
 * arg2 = address; path and offset of the first file that is mapped in the range; arg3 = where that
 * map began. */

struct range {
    const void *address;
    size_t size;
};

/* NULL: no file of ours is there, or nothing is recorded. */
static struct cap_thread *begin_range(struct cap_event *ev, unsigned number, uintptr_t source,
                                      struct range range, struct cap_map *map)
{
    if (CAP_LIKELY(!cap_maps_first((uintptr_t)range.address, range.size + (range.size == 0),
                                   CAP_MAP_FILE, map))) {
        return NULL;
    }
    struct cap_thread *self = cap_enter(source, number);
    *ev = CAP_EVENT_OF(number, source);
    ev->size = range.size;
    ev->begin = cap_begin(self);
    return self;
}

static void end_range(struct cap_thread *self, struct cap_event *ev, const struct cap_map *map,
                      const struct cap_ext *ext)
{
    ev->end = cap_now();
    uintptr_t address = (uintptr_t)ext->arg[2];
    ev->path = map->path;
    ev->offset = map->offset + (int64_t)(address > map->address ? address - map->address : 0);
    cap_emit_ext(self, ev, ext);
}

static struct cap_ext ext_of(const void *address, int64_t arg0)
{
    struct cap_ext ext = CAP_EXT;
    ext.arg[0] = arg0;
    ext.arg[2] = address_of(address);
    return ext;
}

static int with_range(struct cap_thread *self, struct cap_event *ev, const struct cap_map *map,
                      struct cap_ext *ext, int result)
{
    if (CAP_UNLIKELY(self != NULL)) {
        ext->arg[3] = (int64_t)map->origin;
        ev->result = result;
        ev->error = result < 0 ? errno : 0;
        end_range(self, ev, map, ext);
    }
    return result;
}

int cap_record_munmap(uintptr_t source, cap_munmap_fn *real, void *address, size_t size)
{
    struct cap_event ev;
    struct cap_map map;
    cap_pages_report(source, WIO_CALL_munmap, (uintptr_t)address, size);
    struct cap_thread *self =
        begin_range(&ev, WIO_CALL_munmap, source, (struct range){address, size}, &map);
    if (is_range(address, size)) { /* before the call: afterwards it may be another thread's */
        cap_maps_remove((uintptr_t)address, cap_whole_pages(size));
        cap_uring_unmapped(source, WIO_CALL_munmap, address, size);
    }
    struct cap_ext ext = ext_of(address, 0);
    return with_range(self, &ev, &map, &ext, real(address, size));
}

CAP_EXPORT int munmap(void *address, size_t size)
{
    return cap_record_munmap(CAP_CALLER(), CAP_REAL(munmap), address, size);
}

int cap_record_msync(uintptr_t source, cap_msync_fn *real, void *address, size_t size, int flags)
{
    struct cap_event ev;
    struct cap_map map;
    struct cap_ext ext = ext_of(address, flags);
    cap_pages_report(source, WIO_CALL_msync, (uintptr_t)address, size);
    struct cap_thread *self =
        begin_range(&ev, WIO_CALL_msync, source, (struct range){address, size}, &map);
    return with_range(self, &ev, &map, &ext, real(address, size, flags));
}

CAP_EXPORT int msync(void *address, size_t size, int flags)
{
    return cap_record_msync(CAP_CALLER(), CAP_REAL(msync), address, size, flags);
}

int cap_record_madvise(uintptr_t source, cap_madvise_fn *real, void *address, size_t size,
                       int advice)
{
    struct cap_event ev;
    struct cap_map map;
    struct cap_ext ext = ext_of(address, advice);
    struct cap_thread *self =
        begin_range(&ev, WIO_CALL_madvise, source, (struct range){address, size}, &map);
    return with_range(self, &ev, &map, &ext, real(address, size, advice));
}

CAP_EXPORT int madvise(void *address, size_t size, int advice)
{
    return cap_record_madvise(CAP_CALLER(), CAP_REAL(madvise), address, size, advice);
}

/* Gives the error as its result. */
CAP_EXPORT int posix_madvise(void *address, size_t size, int advice)
{
    struct cap_event ev;
    struct cap_map map;
    struct cap_ext ext = ext_of(address, advice);
    struct cap_thread *self =
        begin_range(&ev, WIO_CALL_posix_madvise, CAP_CALLER(), (struct range){address, size}, &map);
    int result = CAP_REAL(posix_madvise)(address, size, advice);
    if (CAP_UNLIKELY(self != NULL)) {
        ext.arg[3] = (int64_t)map.origin;
        ev.result = result;
        ev.error = result;
        end_range(self, &ev, &map, &ext);
    }
    return result;
}

/* Where it was mapped it still is. */
static bool does_stay(const struct cap_remapping *re)
{
    return re->size == 0 || (re->flags & MREMAP_DONTUNMAP) != 0;
}

/* What is known of the memory that moves; false = nothing. It leaves the table before the call:
 * afterwards another thread may have mapped something there. */
static bool before_mremap(const struct cap_remapping *re, struct cap_map *map)
{
    const uintptr_t address = (uintptr_t)re->address;
    if (CAP_LIKELY(!cap_maps_find(address, CAP_MAP_FILE | CAP_MAP_SHARED, map))) {
        return false;
    }
    if (!does_stay(re)) {
        cap_maps_remove(address, cap_whole_pages(re->size));
    }
    map->offset += (int64_t)(address - map->address);
    map->size -= address - map->address;
    map->address = address;
    return true;
}

static void after_mremap(const struct cap_remapping *re, struct cap_map *map, const void *result)
{
    if (result != MAP_FAILED) {
        map->address = (uintptr_t)result;
        map->origin = map->address;
        map->size = re->new_size;
        cap_maps_add(map);
        cap_pages_watch_again(map->address, map->size);
    } else if (!does_stay(re)) {
        const size_t whole = cap_whole_pages(re->size);
        map->size = map->size < whole ? map->size : whole;
        cap_maps_add(map);
    }
}

/* mremap: result = new address, size = new size, arg1 = flags, arg3 = old size. */
void *cap_record_mremap(uintptr_t source, cap_mremap_fn *real, const struct cap_remapping *re)
{
    struct cap_event ev;
    struct cap_map map;
    struct cap_map moved;
    cap_pages_report(source, WIO_CALL_mremap, (uintptr_t)re->address, re->size);
    struct cap_thread *self =
        begin_range(&ev, WIO_CALL_mremap, source, (struct range){re->address, 1}, &map);
    const bool is_known = before_mremap(re, &moved);
    void *result = real(re->address, re->size, re->new_size, re->flags, re->wanted);
    bool is_done = result != MAP_FAILED;
    if (is_done && re->wanted != NULL) {
        cap_maps_remove((uintptr_t)re->wanted, cap_whole_pages(re->new_size));
    }
    if (CAP_UNLIKELY(self != NULL)) {
        struct cap_ext ext = ext_of(re->address, 0);
        ev.size = re->new_size;
        ev.result = is_done ? address_of(result) : -1;
        ev.error = is_done ? 0 : errno;
        ext.arg[1] = re->flags;
        ext.arg[3] = (int64_t)re->size;
        end_range(self, &ev, &map, &ext);
    }
    if (is_done) {
        cap_uring_unmapped(source, WIO_CALL_mremap, re->address, re->size);
    }
    if (CAP_UNLIKELY(is_known)) {
        after_mremap(re, &moved, result);
    }
    return result;
}

CAP_EXPORT void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    void *wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(args, void *) : NULL;
    va_end(args);
    const struct cap_remapping re = {address, size, new_size, flags, wanted};
    return cap_record_mremap(CAP_CALLER(), CAP_REAL(mremap), &re);
}
