/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/system/dirty_limits.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"

#define BYTES "dirty_background_bytes"
#define RATIO "dirty_background_ratio"
#define FILE_MOST 4096

static void path_of(char path[PATH_MAX], const char *dir, const char *name)
{
    (void)snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

bool wio_limits_read(const char *dir, const char *name, uint64_t *out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char path[PATH_MAX];
    path_of(path, dir, name);
    if (wio_io_read_file(path, FILE_MOST, &text, NULL) != WIO_OK) {
        return false;
    }
    const char *number = (const char *)text.data;
    return wio_scan_u64(&number, out);
}

static enum wio_status write_number(const char *dir, const char *name, uint64_t value,
                                    struct wio_error *err)
{
    char path[PATH_MAX];
    char text[32];
    path_of(path, dir, name);
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, path, "cannot open");
    }
    (void)snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    return wio_io_write(fd, path, text, strlen(text), err);
}

struct wio_limits wio_limits_of(const char *dir)
{
    struct wio_limits limits = {.dir = dir};
    char path[PATH_MAX];
    path_of(path, dir, BYTES);
    /* Lowered by another one, it is nothing to come back to. */
    limits.may_lower = wio_limits_read(dir, BYTES, &limits.background_bytes) &&
                       limits.background_bytes != WIO_LIMITS_LOWERED &&
                       wio_limits_read(dir, RATIO, &limits.background_ratio) &&
                       access(path, W_OK) == 0;
    return limits;
}

enum wio_status wio_limits_lower(const struct wio_limits *limits, struct wio_error *err)
{
    return write_number(limits->dir, BYTES, WIO_LIMITS_LOWERED, err);
}

enum wio_status wio_limits_restore(const struct wio_limits *limits, struct wio_error *err)
{
    uint64_t now;
    if (!limits->may_lower ||
        (wio_limits_read(limits->dir, BYTES, &now) && now != WIO_LIMITS_LOWERED)) {
        return WIO_OK;
    }
    /* Setting one of the two takes the other out of force. */
    if (limits->background_bytes > 0) {
        return write_number(limits->dir, BYTES, limits->background_bytes, err);
    }
    return write_number(limits->dir, RATIO, limits->background_ratio, err);
}
