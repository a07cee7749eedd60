/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/counts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"

/* Of /sys/dev/block/N:M/stat: the seventh number, sectors written. */
#define WRITTEN 7
#define SECTOR 512

void wio_counts_find(const char *dir, char path[WIO_COUNTS_PATH])
{
    struct stat info;
    if (stat(dir, &info) == 0) {
        (void)snprintf(path, WIO_COUNTS_PATH, "/sys/dev/block/%u:%u/stat", major(info.st_dev),
                       minor(info.st_dev));
    }
}

double wio_counts_written(const char *path)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    uint64_t number = 0;
    if (wio_io_read_file(path, PATH_MAX, &text, NULL) != WIO_OK) {
        return (double)NAN;
    }
    const char *at = (const char *)text.data;
    for (unsigned i = 0; i < WRITTEN; i++) {
        at += strspn(at, " ");
        if (!wio_scan_u64(&at, &number)) {
            return (double)NAN;
        }
    }
    return (double)number * SECTOR;
}
