/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/system/system_info.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/cpus.h"
#include "base/system/memory_group.h"
#include "calibrate/system/device.h"
#include "calibrate/system/dirty_limits.h"
#include "calibrate/system/folio.h"

#define PROC_MOST (1u << 20)
#define CENTI 100.0

static void file_cleanup(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file);
    }
}

/* The number behind "NAME " or "NAME:" at the beginning of a line. */
static bool find_number(const char *path, const char *name, uint64_t *out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    size_t length = strlen(name);
    if (wio_io_read_file(path, PROC_MOST, &text, NULL) != WIO_OK) {
        return false;
    }
    const char *line = (const char *)text.data;
    while (strncmp(line, name, length) != 0 || (line[length] != ' ' && line[length] != ':')) {
        line = strchr(line, '\n');
        if (line == NULL) {
            return false;
        }
        line++;
    }
    line += length + 1;
    line += strspn(line, " ");
    return wio_scan_u64(&line, out);
}

uint64_t wio_facts_vmstat_bytes(const char *name)
{
    uint64_t pages;
    return find_number("/proc/vmstat", name, &pages) ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static enum wio_status read_limits(struct wio_calibration *calibration, struct wio_error *err)
{
    uint64_t background = wio_facts_vmstat_bytes("nr_dirty_background_threshold");
    uint64_t hard = wio_facts_vmstat_bytes("nr_dirty_threshold");
    uint64_t bytes;
    if (wio_limits_read(WIO_LIMITS_DIR, "dirty_background_bytes", &bytes) &&
        bytes == WIO_LIMITS_LOWERED) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, WIO_LIMITS_DIR "/dirty_background_bytes",
                             WIO_ERROR_NO_OFFSET,
                             "is lowered by another whyio calibrate: let it end, or set it anew if "
                             "that one is gone");
    }
    if (hard <= background) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, "/proc/vmstat", WIO_ERROR_NO_OFFSET,
                             "expected nr_dirty_background_threshold below nr_dirty_threshold");
    }
    wio_calibration_read(calibration, WIO_PARAM_limit_bg, (double)background);
    wio_calibration_read(calibration, WIO_PARAM_limit_hard, (double)hard);
    return WIO_OK;
}

static void read_ages(struct wio_calibration *calibration)
{
    uint64_t centi;
    calibration->params[WIO_PARAM_dirty_expire].value = 30; /* the kernel's default */
    if (wio_limits_read(WIO_LIMITS_DIR, "dirty_expire_centisecs", &centi)) {
        wio_calibration_read(calibration, WIO_PARAM_dirty_expire, (double)centi / CENTI);
    }
    if (wio_limits_read(WIO_LIMITS_DIR, "dirty_writeback_centisecs", &centi)) {
        wio_calibration_read(calibration, WIO_PARAM_dirty_interval, (double)centi / CENTI);
    }
}

/* The coarse clock moves once in a tick. */
static void read_ticks(struct wio_calibration *calibration)
{
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_sec == 0 &&
        tick.tv_nsec >= 100000 && tick.tv_nsec <= 10000000) {
        wio_calibration_read(calibration, WIO_PARAM_hz, round(1e9 / (double)tick.tv_nsec));
    }
}

static void read_memory(struct wio_calibration *calibration)
{
    uint64_t kib;
    if (find_number("/proc/meminfo", "MemAvailable", &kib)) {
        wio_calibration_read(calibration, WIO_PARAM_mem_bytes, (double)kib * 1024);
    }
}

/* Memory for files is what the machine has to spare, and no more than the group of this process
 * lets it have. */
static void read_group(struct wio_calibration *calibration)
{
    struct wio_memory_group group = wio_memory_group_own();
    if (group.version == 0) {
        return;
    }
    uint64_t used = group.usage > group.file ? group.usage - group.file : 0;
    wio_calibration_read(calibration, WIO_PARAM_group_limit, (double)group.limit);
    wio_calibration_read(calibration, WIO_PARAM_group_used, (double)used);
    wio_calibration_read(calibration, WIO_PARAM_group_version, group.version);
}

/* The second level is the largest that is a processor's own mostly; 0 where it is not known. */
static void read_cache(struct wio_calibration *calibration)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (bytes > 0) {
        wio_calibration_read(calibration, WIO_PARAM_cache_size, (double)bytes);
    }
}

enum wio_status wio_facts_system(const char *dir, struct wio_calibration *calibration,
                                 struct wio_error *err)
{
    struct utsname name;
    WIO_TRY(read_limits(calibration, err));
    read_ages(calibration);
    read_ticks(calibration);
    read_memory(calibration);
    read_group(calibration);
    read_cache(calibration);
    calibration->cpus = wio_cpus_allowed();
    if (uname(&name) == 0) {
        (void)snprintf(calibration->kernel, sizeof(calibration->kernel), "%s %s", name.sysname,
                       name.release);
    }
    return wio_device_describe(dir, calibration, err);
}

/* glibc chooses it for the file when the first byte is written. */
static enum wio_status read_stdio_buffer(const char *path, struct wio_calibration *calibration,
                                         struct wio_error *err)
{
    WIO_CLEANUP(file_cleanup) FILE *file = fopen(path, "we");
    if (file == NULL || fputc('x', file) == EOF) {
        return wio_error_sys(err, path, "cannot write");
    }
    wio_calibration_read(calibration, WIO_PARAM_bf, (double)__fbufsize(file));
    /* cppcheck-suppress resourceLeak ; closed on the way out */
    return WIO_OK;
}

enum wio_status wio_facts_files(const char *dir, struct wio_calibration *calibration,
                                struct wio_error *err)
{
    char path[PATH_MAX];
    struct statvfs fs;
    if (statvfs(dir, &fs) != 0) {
        return wio_error_sys(err, dir, "cannot look at the file system");
    }
    wio_calibration_read(calibration, WIO_PARAM_bs,
                         (double)(fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize));
    (void)snprintf(path, sizeof(path), "%s/facts", dir);
    WIO_TRY(read_stdio_buffer(path, calibration, err));
    WIO_TRY(wio_folio_measure(path, &calibration->params[WIO_PARAM_balance_step], err));
    return unlink(path) == 0 ? WIO_OK : wio_error_sys(err, path, "cannot remove");
}
