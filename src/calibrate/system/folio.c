/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/self/pagemap gives the frame of a page, /proc/kpageflags says whether that is the head of a
 * compound page or belongs to the one before (admin-guide/mm/pagemap.rst). Without root frames are
 * 0; but smaps tells how much of a mapping is mapped by huge entries, and that needs a huge folio.
 */
#include "calibrate/system/folio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define FRAME_MASK ((UINT64_C(1) << 55) - 1)
#define IS_TAIL (UINT64_C(1) << 16)
#define SMAPS_MOST (64u << 20)

/* A mapping of the file in a place where a huge entry could map it. */
struct view {
    void *room; /* larger by what the place may be off */
    const volatile uint8_t *pages;
};

static void view_cleanup(struct view *view)
{
    if (view->room != MAP_FAILED) {
        (void)munmap(view->room, WIO_FOLIO_BYTES + HUGE_BYTES);
    }
}

/* pages == NULL: files cannot be mapped here (FUSE without a page cache, some of networks). */
static enum wio_status open_view(int fd, const char *path, struct view *view, struct wio_error *err)
{
    view->room =
        mmap(NULL, WIO_FOLIO_BYTES + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (view->room == MAP_FAILED) {
        return wio_error_sys(err, path, "cannot map");
    }
    uintptr_t off = (uintptr_t)view->room % HUGE_BYTES;
    uint8_t *place = (uint8_t *)view->room + (off == 0 ? 0 : HUGE_BYTES - off);
    if (mmap(place, WIO_FOLIO_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        if (errno == ENODEV || errno == EINVAL) {
            return WIO_OK;
        }
        return wio_error_sys(err, path, "cannot map");
    }
    view->pages = place;
    for (size_t i = 0; i < WIO_FOLIO_BYTES; i += (size_t)sysconf(_SC_PAGESIZE)) {
        (void)view->pages[i];
    }
    return WIO_OK;
}

/* The `index`-th of the 64-bit numbers that such a file consists of. */
static bool read_entry(int fd, uint64_t index, uint64_t *out)
{
    return pread(fd, out, sizeof(*out), (off_t)(index * sizeof(*out))) == sizeof(*out);
}

/* In pages; 0: frames are not shown to us. */
static size_t longest_by_frames(const struct view *view)
{
    WIO_CLEANUP(wio_fd_cleanup) int maps = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    WIO_CLEANUP(wio_fd_cleanup) int flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < WIO_FOLIO_BYTES / page; i++) {
        uint64_t entry;
        uint64_t flag;
        if (!read_entry(maps, (uintptr_t)view->pages / page + i, &entry) ||
            (entry & FRAME_MASK) == 0 || !read_entry(flags, entry & FRAME_MASK, &flag)) {
            return 0;
        }
        run = (flag & IS_TAIL) != 0 ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* The paragraph of our mapping in smaps has how many KiB of it are mapped by huge entries. */
static bool has_huge_entries(const struct view *view)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char head[40];
    struct wio_fmt fmt = wio_fmt_of(head, sizeof(head));
    if (wio_io_read_file("/proc/self/smaps", SMAPS_MOST, &text, NULL) != WIO_OK) {
        return false;
    }
    wio_fmt_hex(&fmt, (uintptr_t)view->pages, 1);
    wio_fmt_str(&fmt, "-");
    const char *at = strstr((const char *)text.data, head);
    const char *end = at == NULL ? NULL : strstr(at, "VmFlags:");
    uint64_t kib = 0;
    while (end != NULL && kib == 0 && (at = strstr(at, "PmdMapped:")) != NULL && at < end) {
        at += strlen("PmdMapped:");
        at += strspn(at, " ");
        (void)wio_scan_u64(&at, &kib);
    }
    return kib > 0;
}

static enum wio_status fill(int fd, const char *path, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob data = {0};
    if (wio_blob_reserve(&data, WIO_FOLIO_BYTES) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    memset(data.data, 'x', WIO_FOLIO_BYTES);
    return wio_io_pwrite(fd, path, data.data, WIO_FOLIO_BYTES, 0, err);
}

enum wio_status wio_folio_measure(const char *path, struct wio_calibrate_value *out,
                                  struct wio_error *err)
{
    WIO_CLEANUP(view_cleanup) struct view view = {.room = MAP_FAILED};
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return wio_error_sys(err, path, "cannot open");
    }
    WIO_TRY(fill(fd, path, err));
    WIO_TRY(open_view(fd, path, &view, err));
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (view.pages == NULL) {
        out->value = (double)page;
        return WIO_OK;
    }
    size_t longest = longest_by_frames(&view);
    if (longest > 0) {
        out->value = (double)(longest * page);
        out->how = WIO_CALIBRATE_MEASURED;
    } else if (has_huge_entries(&view)) {
        out->value = (double)HUGE_BYTES;
        out->how = WIO_CALIBRATE_MEASURED;
    } else { /* there may be folios, but no huge ones */
        out->value = (double)page;
        out->is_better_with_root = true;
    }
    return WIO_OK;
}
