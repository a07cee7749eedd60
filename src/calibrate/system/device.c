/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/system/device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/system/mounts.h"
#include "calibrate/system/dirty_limits.h"
#include "calibrate/system/rate_limit.h"

#define MOUNTS_MOST (16u << 20)

/* A file system that numbers its own devices (btrfs) is on the one that it was mounted from. */
static dev_t device_of(const struct stat *st, const struct wio_mount *mount)
{
    struct stat source;
    if (stat(mount->source, &source) == 0 && S_ISBLK(source.st_mode)) {
        return source.st_rdev;
    }
    return st->st_dev;
}

/* The kernel's name of a block device: the last part of what its number links to. */
static void name_device(dev_t device, char out[WIO_CALIBRATE_TEXT])
{
    char link[64];
    char text[PATH_MAX];
    (void)snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(device), minor(device));
    ssize_t length = readlink(link, text, sizeof(text) - 1);
    if (length <= 0) {
        return;
    }
    text[length] = '\0';
    const char *slash = strrchr(text, '/');
    (void)snprintf(out, WIO_CALIBRATE_TEXT, "%.*s", WIO_CALIBRATE_TEXT - 1,
                   slash == NULL ? text : slash + 1);
}

/* Every device that pages come from has such a directory, by the number that stat tells. */
static void read_ahead(const struct stat *st, struct wio_calibrate_value *out)
{
    char dir[64];
    uint64_t kib;
    (void)snprintf(dir, sizeof(dir), "/sys/class/bdi/%u:%u", major(st->st_dev), minor(st->st_dev));
    if (wio_limits_read(dir, "read_ahead_kb", &kib)) {
        out->value = (double)kib * 1024;
        out->how = WIO_CALIBRATE_READ;
    }
}

enum wio_status wio_device_describe(const char *dir, struct wio_calibration *calibration,
                                    struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob mounts = {0};
    struct wio_mount mount;
    struct stat st;
    char path[PATH_MAX];
    if (stat(dir, &st) != 0 || realpath(dir, path) == NULL) {
        return wio_error_sys(err, dir, "cannot look at the directory");
    }
    if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return wio_error_sys(err, dir, "cannot measure");
    }
    read_ahead(&st, &calibration->params[WIO_PARAM_read_ahead]);
    if (wio_io_read_file("/proc/self/mountinfo", MOUNTS_MOST, &mounts, NULL) == WIO_OK &&
        wio_mount_find((const char *)mounts.data, path, &mount)) {
        (void)snprintf(calibration->filesystem, sizeof(calibration->filesystem), "%s", mount.type);
        (void)snprintf(calibration->mount, sizeof(calibration->mount), "%s", mount.place);
        name_device(device_of(&st, &mount), calibration->device);
        calibration->rate_limit = wio_rate_limit(device_of(&st, &mount), "");
    }
    return WIO_OK;
}
