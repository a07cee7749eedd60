/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/system/rate_limit.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/cgroups.h"

#define TEXT_MOST (1u << 20)
#define V1_FILE "blkio.throttle.write_bps_device"
#define V2_FILE "io.max"
#define BLOCK_DIR "/sys/dev/block/%u:%u"
#define SLAVES "slaves/"
/* Devices upon devices, of which there are three or four where there are many. */
#define DEPTH_MOST 16

/* "MAJOR:MINOR " at *text, which moves behind it. */
static bool scan_device(const char **text, dev_t *device_out)
{
    uint64_t major;
    uint64_t minor;
    if (!wio_scan_u64(text, &major) || **text != ':') {
        return false;
    }
    (*text)++;
    if (!wio_scan_u64(text, &minor) || **text != ' ') {
        return false;
    }
    (*text)++;
    *device_out = makedev((unsigned)major, (unsigned)minor);
    return true;
}

/* The bytes of a line behind its device: a number, or one that is called wbps. */
static double bytes_of(const char *line, const char *end)
{
    static const char key[] = "wbps=";
    uint64_t bytes;
    const char *found = strstr(line, key);
    if (found != NULL && found < end) {
        line = found + sizeof(key) - 1;
    }
    return wio_scan_u64(&line, &bytes) ? (double)bytes : HUGE_VAL;
}

/* In the text of a file; HUGE_VAL: it has none of the device. */
static double limit_in(const char *line, dev_t device)
{
    while (*line != '\0') {
        const char *end = line + strcspn(line, "\n");
        dev_t of;
        if (scan_device(&line, &of) && of == device) {
            return bytes_of(line, end);
        }
        line = *end == '\0' ? end : end + 1;
    }
    return HUGE_VAL;
}

struct search {
    dev_t device;
    double least;
};

/* In version 2 the limits of all groups above hold, too. */
static bool look_at(void *context, const struct wio_cgroup *group)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    struct search *search = context;
    const bool is_v2 = group->version == 2;
    if (wio_cgroup_read(group, is_v2 ? V2_FILE : V1_FILE, &text)) {
        search->least = fmin(search->least, limit_in((const char *)text.data, search->device));
    }
    return is_v2;
}

double wio_rate_limit_of(dev_t device, const char *cgroups, const char *root)
{
    struct search search = {device, HUGE_VAL};
    wio_cgroups_each(cgroups, root, "blkio", look_at, &search);
    return isinf(search.least) ? 0 : search.least;
}

/* The number in the file "dev" of a directory below that of a device. */
static bool read_device(const char *root, dev_t device, const char *below, dev_t *device_out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char path[PATH_MAX];
    uint64_t major_of;
    uint64_t minor_of;
    int n = snprintf(path, sizeof(path), "%s" BLOCK_DIR "/%s/dev", root, major(device),
                     minor(device), below);
    if (n < 0 || (size_t)n >= sizeof(path) ||
        wio_io_read_file(path, TEXT_MOST, &text, NULL) != WIO_OK) {
        return false;
    }
    const char *at = (const char *)text.data;
    if (!wio_scan_u64(&at, &major_of) || *at++ != ':' || !wio_scan_u64(&at, &minor_of)) {
        return false;
    }
    *device_out = makedev((unsigned)major_of, (unsigned)minor_of);
    return true;
}

/* Of a partition, whose directory is in that of the device that has the queue. */
static dev_t whole_of(const char *root, dev_t device)
{
    char path[PATH_MAX];
    dev_t whole;
    (void)snprintf(path, sizeof(path), "%s" BLOCK_DIR "/partition", root, major(device),
                   minor(device));
    return access(path, F_OK) == 0 && read_device(root, device, "..", &whole) ? whole : device;
}

/* What a device is made of (LVM, LUKS, md), if that is one other. Of several it is not known which
 * one a write goes to. */
static bool find_below(const char *root, dev_t device, dev_t *below_out)
{
    char path[PATH_MAX];
    char below[NAME_MAX + sizeof(SLAVES)] = "";
    (void)snprintf(path, sizeof(path), "%s" BLOCK_DIR "/" SLAVES, root, major(device),
                   minor(device));
    WIO_CLEANUP(wio_dir_cleanup) DIR *dir = opendir(path);
    size_t count = 0;
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(below, sizeof(below), SLAVES "%s", entry->d_name);
            count++;
        }
    }
    return count == 1 && read_device(root, device, below, below_out);
}

double wio_rate_limit(dev_t device, const char *root)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob cgroups = {0};
    char path[PATH_MAX];
    double least = HUGE_VAL;
    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (wio_io_read_file(path, TEXT_MOST, &cgroups, NULL) != WIO_OK) {
        return 0;
    }
    (void)snprintf(path, sizeof(path), "%s/sys/fs/cgroup", root);
    bool is_more = true;
    for (unsigned depth = 0; depth < DEPTH_MOST && is_more; depth++) {
        device = whole_of(root, device);
        double limit = wio_rate_limit_of(device, (const char *)cgroups.data, path);
        least = limit > 0 ? fmin(least, limit) : least;
        is_more = find_below(root, device, &device);
    }
    return isinf(least) ? 0 : least;
}
