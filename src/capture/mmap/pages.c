/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mmap/pages.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "capture/core/environment.h"
#include "capture/core/own_fds.h"
#include "capture/core/process.h"
#include "capture/mmap/pages_kernel.h"

/* Protecting a map makes page tables for all of it, 1/512 of its size: not for larger ones. */
#define WATCHED_MAX (64ull << 30)

#define REGIONS 64u /* of one scan */

static bool is_wanted;

enum { UNTRIED, BUSY, READY, ABSENT };
static uint32_t state;
static uint32_t watched; /* maps ever, in this image */

void cap_pages_configure(void)
{
    is_wanted = cap_env_is_on("WHYIO_MMAP_PAGES");
}

/* ---- the descriptor ----------------------------------------------------------------------- */

static int make_descriptor(void)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = CAP_UFFD_WP_ASYNC | CAP_UFFD_WP_UNPOPULATED |
                                         CAP_UFFD_WP_HUGETLBFS_SHMEM};
    long fd = raw_call3(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | CAP_UFFD_USER_MODE_ONLY, 0, 0);
    if (fd < 0) {
        return -1;
    }
    if (raw_ioctl((int)fd, UFFDIO_API, &api) != 0) {
        (void)raw_close((int)fd);
        return -1;
    }
    return cap_move_high((int)fd);
}

static void begin(void)
{
    int fd = make_descriptor();
    if (fd >= 0) {
        cap_own_set(CAP_OWN_FEATURE, fd);
    }
    __atomic_store_n(&state, fd >= 0 ? READY : ABSENT, __ATOMIC_RELEASE);
}

static bool is_ready(void)
{
    uint32_t expected = UNTRIED;
    uint64_t mask = raw_block_signals();
    if (__atomic_compare_exchange_n(&state, &expected, BUSY, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        begin();
    }
    while ((expected = __atomic_load_n(&state, __ATOMIC_ACQUIRE)) == BUSY) {
        raw_yield();
    }
    raw_restore_signals(mask);
    return expected == READY;
}

/* The descriptor; -1 where there is none, or the program closed it. */
static int own_fd(void)
{
    const int fd = cap_own_fds[CAP_OWN_FEATURE].fd;
    return cap_own_is(CAP_OWN_FEATURE, fd) ? fd : -1;
}

/* ---- watching ----------------------------------------------------------------------------- */

static uint64_t page_bytes(void)
{
    return getauxval(AT_PAGESZ);
}

/* Fails where another userfaultfd has the range: the program's own. */
static bool protect(uintptr_t address, size_t size)
{
    struct uffdio_range range = {address, cap_whole_pages(size)};
    struct uffdio_register registration = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protection = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (size > WATCHED_MAX || !is_ready()) {
        return false;
    }
    const int fd = own_fd();
    return fd >= 0 && raw_ioctl(fd, UFFDIO_REGISTER, &registration) == 0 &&
           raw_ioctl(fd, UFFDIO_WRITEPROTECT, &protection) == 0;
}

void cap_pages_watch(struct cap_map *map, int fd, int map_flags)
{
    struct stat st = {0};
    int type = map_flags & MAP_TYPE;
    if (!is_wanted || (type != MAP_SHARED && type != MAP_SHARED_VALIDATE)) {
        return;
    }
    bool is_writable = (raw_fcntl(fd, F_GETFL, 0) & O_ACCMODE) == O_RDWR;
    if (!is_writable || raw_fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return;
    }
    bool is_guest = (cap_self->flags & WIO_EVENT_VFORK) != 0; /* the descriptor would be its own */
    map->is_watched = !is_guest && protect(map->address, map->size);
    if (!map->is_watched) {
        cap_unseen(WIO_UNSEEN_HIDDEN_STORES);
        return;
    }
    map->fd = fd;
    map->device = st.st_dev;
    map->inode = st.st_ino;
    map->file_size = st.st_size;
    (void)__atomic_fetch_add(&watched, 1, __ATOMIC_RELAXED);
}

bool cap_pages_any(void)
{
    return CAP_UNLIKELY(__atomic_load_n(&watched, __ATOMIC_RELAXED) > 0);
}

void cap_pages_watch_again(uintptr_t address, size_t size)
{
    struct cap_map map;
    for (uint32_t at = 0; cap_pages_any() && cap_maps_next(&at, address, size, &map);) {
        if (map.is_watched && !protect(map.address, map.size)) {
            cap_maps_unwatch(map.address);
            cap_unseen(WIO_UNSEEN_HIDDEN_STORES);
        }
    }
}

void cap_pages_begin_image(void)
{
    if (!is_wanted) {
        return;
    }
    const int fd = own_fd();
    if (fd >= 0) {
        (void)raw_close(fd);
    }
    cap_own_fds[CAP_OWN_FEATURE].fd = -1;
    state = UNTRIED;
    cap_pages_watch_again(0, SIZE_MAX);
}

/* ---- reporting ---------------------------------------------------------------------------- */

/* What is being reported: ranges that touch become one. */
struct report {
    struct cap_thread *self;
    const struct cap_map *map;
    struct cap_event ev;
    int64_t end_of_file;
    bool is_exact; /* end_of_file is today's, not that of the mmap */
    uint64_t lo;
    uint64_t hi; /* lo = hi: nothing yet */
};

static void find_end(struct report *report)
{
    const struct cap_map *map = report->map;
    struct stat st = {0};
    report->is_exact =
        raw_fstat(map->fd, &st) == 0 && st.st_dev == map->device && st.st_ino == map->inode;
    report->end_of_file = report->is_exact ? st.st_size : map->file_size;
}

/* The last page of a file is written as a page, but only its beginning is in the file. */
static int64_t cut_at_end(const struct report *report, int64_t offset, int64_t size)
{
    int64_t left = report->end_of_file - offset;
    bool has_grown = !report->is_exact && left <= size - (int64_t)page_bytes();
    return left < size && !has_grown ? left : size;
}

static void emit_range(struct report *report)
{
    const struct cap_map *map = report->map;
    struct cap_ext ext = CAP_EXT;
    int64_t offset = map->offset + (int64_t)(report->lo - map->address);
    int64_t size = cut_at_end(report, offset, (int64_t)(report->hi - report->lo));
    if (size <= 0) {
        return;
    }
    report->ev.offset = offset;
    report->ev.size = (uint64_t)size;
    report->ev.result = size;
    ext.arg[2] = (int64_t)report->lo;
    ext.arg[3] = (int64_t)map->origin;
    cap_emit_ext(report->self, &report->ev, &ext);
}

static void add_region(struct report *report, uint64_t lo, uint64_t hi)
{
    if (lo != report->hi) {
        emit_range(report);
        report->lo = lo;
    }
    report->hi = hi;
}

/* Read the notes of the range, and clear them in the same step. */
static bool scan(struct report *report, int pagemap, uint64_t lo, uint64_t hi)
{
    struct cap_page_region regions[REGIONS];
    struct cap_page_scan request = {.size = sizeof(request),
                                    .flags = CAP_SCAN_WP_MATCHING | CAP_SCAN_CHECK_WPASYNC,
                                    .start = lo,
                                    .end = hi,
                                    .vec = (uint64_t)(uintptr_t)regions,
                                    .vec_len = REGIONS,
                                    .category_mask = CAP_PAGE_IS_WRITTEN,
                                    .return_mask = CAP_PAGE_IS_WRITTEN};
    while (request.start < hi) {
        long count = raw_ioctl(pagemap, CAP_PAGEMAP_SCAN, &request);
        if (count < 0 || request.walk_end <= request.start) {
            return count == -EINTR;
        }
        for (long i = 0; i < count; i++) {
            add_region(report, regions[i].start, regions[i].end);
        }
        request.start = request.walk_end;
    }
    return true;
}

static void report_map(struct report *report, uint64_t lo, uint64_t hi)
{
    long pagemap = raw_openat(AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    report->ev.path = report->map->path;
    report->ev.begin = cap_now();
    report->ev.end = report->ev.begin;
    report->lo = report->hi = lo;
    find_end(report);
    bool is_done = pagemap >= 0 && scan(report, (int)pagemap, lo, hi);
    emit_range(report);
    if (pagemap >= 0) {
        (void)raw_close((int)pagemap);
    }
    if (!is_done) {
        cap_unseen(WIO_UNSEEN_HIDDEN_STORES);
    }
}

void cap_pages_report(uintptr_t source, unsigned call, uintptr_t address, size_t size)
{
    struct cap_map map;
    uint32_t at = 0;
    if (CAP_LIKELY(!cap_pages_any()) || !cap_maps_next(&at, address, size, &map)) {
        return;
    }
    CAP_KEEP_ERRNO;
    struct report report = {.self = cap_enter(source, call), .map = &map};
    if (report.self == NULL || (report.self->flags & WIO_EVENT_VFORK) != 0) {
        return;
    }
    report.ev = CAP_EVENT(mmap_write, source);
    report.ev.flags = WIO_EVENT_BUFFERED;
    uintptr_t end = address + size < address ? UINTPTR_MAX : address + size;
    do {
        uintptr_t map_end = map.address + map.size;
        uint64_t lo = address > map.address ? address & ~(page_bytes() - 1) : map.address;
        uint64_t hi = cap_whole_pages(end < map_end ? end : map_end);
        if (map.is_watched) {
            report_map(&report, lo, hi);
        }
    } while (cap_maps_next(&at, address, size, &map));
}

void cap_pages_report_all(uintptr_t source, unsigned call)
{
    cap_pages_report(source, call, 0, SIZE_MAX);
}

void cap_pages_give_way(uintptr_t source, unsigned long request, const void *range)
{
    if (CAP_LIKELY(!cap_pages_any()) || request != UFFDIO_REGISTER || range == NULL ||
        !cap_is_readable(range)) {
        return;
    }
    struct uffdio_range wanted;
    struct cap_map map;
    memcpy(&wanted, range, sizeof(wanted));
    cap_pages_report(source, WIO_CALL_ioctl, wanted.start, wanted.len);
    for (uint32_t at = 0; cap_maps_next(&at, wanted.start, wanted.len, &map);) {
        struct uffdio_range whole = {map.address, cap_whole_pages(map.size)};
        const int fd = own_fd();
        if (map.is_watched && fd >= 0) {
            (void)raw_ioctl(fd, UFFDIO_UNREGISTER, &whole);
            cap_maps_unwatch(map.address);
            cap_unseen(WIO_UNSEEN_HIDDEN_STORES);
        }
    }
}
