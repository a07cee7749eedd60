/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ring/ring.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

/* The smallest ring: a header and a chunk. */
#define RING_BYTES (WIO_RING_HEADER_BYTES + WIO_CHUNK_BYTES)

static const char stored[] = WIO_RING_MAGIC;

static enum wio_status no_map(const char *dir, struct wio_error *err)
{
    (void)wio_error_sys(err, dir, "files there cannot be mapped shared, as rings are");
    if (err != NULL) {
        err->status = WIO_ERR_UNSUPPORTED;
    }
    return WIO_ERR_UNSUPPORTED;
}

/* Without a populated page a store may be a SIGBUS. A kernel that knows no such advice has
 * populated it already, or not. */
static enum wio_status try_store(const char *dir, int fd, struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    char seen[sizeof(stored)] = "";
    char *map =
        mmap(NULL, WIO_RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED) {
        return no_map(dir, err);
    }
    if (madvise(map, WIO_RING_HEADER_BYTES, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
        status = no_map(dir, err);
    } else {
        memcpy(map, stored, sizeof(stored));
        status = wio_io_pread(fd, dir, seen, sizeof(seen), 0, err);
    }
    (void)munmap(map, WIO_RING_HEADER_BYTES);
    if (status == WIO_OK && memcmp(seen, stored, sizeof(seen)) != 0) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, dir, WIO_ERROR_NO_OFFSET,
                             "what is stored into a map of a file there is not in the file");
    }
    return status;
}

static enum wio_status try_ring(const char *dir, int fd, struct wio_error *err)
{
    static const char zeros[4096];
    for (uint64_t at = 0; at < RING_BYTES; at += sizeof(zeros)) {
        struct wio_error reason = WIO_ERROR_INIT;
        enum wio_status status = wio_io_pwrite(fd, dir, zeros, sizeof(zeros), at, &reason);
        if (status != WIO_OK && reason.sys_errno == EFBIG) {
            return WIO_OK;
        }
        if (status != WIO_OK) {
            errno = reason.sys_errno;
            return wio_error_sys(err, dir, "cannot write %u bytes for a ring", RING_BYTES);
        }
    }
    return try_store(dir, fd, err);
}

enum wio_status wio_rings_probe(const char *dir, struct wio_error *err)
{
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof(path), "%s/.probe.XXXXXX", dir);
    WIO_CLEANUP(wio_fd_cleanup) int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, dir, "cannot make a ring");
    }
    enum wio_status status = try_ring(dir, fd, err);
    (void)unlink(path);
    return status;
}
