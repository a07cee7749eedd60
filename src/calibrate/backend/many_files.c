/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/many_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

#define WRITE_BYTES 4096

static void path_of(const char *dir, size_t number, char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/many%zu", dir, number);
}

static enum wio_status open_all(const char *dir, int *fds, size_t count, struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        path_of(dir, i, path);
        fds[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fds[i] < 0) {
            return wio_error_sys(err, path, "cannot open");
        }
    }
    return WIO_OK;
}

static enum wio_status write_all(const char *dir, const int *fds, const void *data,
                                 const struct wio_rig_many *many, double *seconds_out,
                                 struct wio_error *err)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < many->files * many->writes; i++) {
        if (i % many->writes == 0) {
            path_of(dir, i / many->writes, path);
        }
        uint64_t offset = i % many->writes * WRITE_BYTES;
        uint64_t begin_ns = wio_clock_mono_ns();
        WIO_TRY(wio_io_pwrite(fds[i / many->writes], path, data, WRITE_BYTES, offset, err));
        uint64_t ns = wio_clock_mono_ns() - begin_ns;
        seconds_out[i] = (double)(ns > many->clock_ns ? ns - many->clock_ns : 1) * 1e-9;
    }
    return WIO_OK;
}

enum wio_status wio_many_files(const char *dir, const void *data, const struct wio_rig_many *many,
                               double *seconds_out, struct wio_error *err)
{
    int *fds = malloc(many->files * sizeof(*fds));
    if (fds == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < many->files; i++) {
        fds[i] = -1;
    }
    enum wio_status status = open_all(dir, fds, many->files, err);
    if (status == WIO_OK) {
        status = write_all(dir, fds, data, many, seconds_out, err);
    }
    for (size_t i = 0; i < many->files && fds[i] >= 0; i++) {
        char path[PATH_MAX];
        path_of(dir, i, path);
        wio_fd_cleanup(&fds[i]);
        (void)unlink(path); /* what is left goes with the directory */
    }
    free(fds);
    return status;
}
