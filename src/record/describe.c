/* SPDX-License-Identifier: Apache-2.0 */
#include "record/describe.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/system/boot_id.h"
#include "base/system/cpus.h"
#include "record/machine.h"
#include "trace/write/segment_internal.h"

enum { MOUNTS_BYTES = 4 << 20 };

/* Variables that change what a program's I/O does or say where it ran. Never all of them: an
 * environment holds secrets. */
static const char *const kept_prefixes[] = {
    "OMP_",   "OMPI_", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPICH_",  "MPIR_",
    "I_MPI_", "UCX_",  "FI_",       "ROMIO_",   "HDF5_",    "ADIOS2_", "SLURM_",
    "PBS_",   "LSB_",  "FLUX_",     "COBALT_",  "WHYIO_",   "LC_",
};
static const char *const kept_names[] = {"LANG",
                                         "TMPDIR",
                                         "PWD",
                                         "PATH",
                                         "LD_LIBRARY_PATH",
                                         "LD_PRELOAD",
                                         "TZ",
                                         "HOSTNAME",
                                         "MALLOC_ARENA_MAX",
                                         "GFORTRAN_UNBUFFERED_ALL"};
static const char *const secret_parts[] = {"TOKEN", "SECRET",     "PASS", "KEY",           "CRED",
                                           "JWT",   "transports", "AUTH", "WHYIO_DIRECTOR"};

static bool is_secret(const char *entry, size_t name_bytes)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(secret_parts); i++) {
        const char *found = strstr(entry, secret_parts[i]);
        if (found != NULL && found < entry + name_bytes) {
            return true;
        }
    }
    return false;
}

static bool is_kept(const char *entry)
{
    size_t name_bytes = strcspn(entry, "=");
    if (is_secret(entry, name_bytes)) {
        return false;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kept_prefixes); i++) {
        if (strncmp(entry, kept_prefixes[i], strlen(kept_prefixes[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kept_names); i++) {
        if (strlen(kept_names[i]) == name_bytes && strncmp(entry, kept_names[i], name_bytes) == 0) {
            return true;
        }
    }
    return false;
}

void wio_description_init(struct wio_description *description, bool anonymize)
{
    *description = (struct wio_description){.anonymize = anonymize};
    struct utsname machine = {0};
    (void)uname(&machine); /* fails for no reason but a bad pointer */
    snprintf(description->kernel, sizeof(description->kernel), "%.64s %.64s %.64s", machine.sysname,
             machine.release, machine.machine);
    snprintf(description->host, sizeof(description->host), "%.64s", machine.nodename);
    wio_boot_id(description->boot_id);
    snprintf(description->cpus, sizeof(description->cpus), "%u", wio_cpus_allowed());
    wio_machine_read(description->machine);
}

static enum wio_status put(struct wio_segment *segment, unsigned key, const char *value,
                           struct wio_error *err)
{
    return value[0] != '\0' ? wio_segment_meta(segment, key, value, strlen(value), err) : WIO_OK;
}

/* A list ended by NULL; each text keeps its NUL. */
static enum wio_status put_list(struct wio_segment *segment, unsigned key, char *const *list,
                                bool (*is_wanted)(const char *), struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    for (size_t i = 0; list[i] != NULL; i++) {
        if (is_wanted == NULL || is_wanted(list[i])) {
            WIO_TRY(wio_blob_put(&blob, list[i], strlen(list[i]) + 1));
        }
    }
    return blob.size > 0 ? wio_segment_meta(segment, key, (const char *)blob.data, blob.size, err)
                         : WIO_OK;
}

static enum wio_status put_mounts(struct wio_segment *segment, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file("/proc/self/mountinfo", MOUNTS_BYTES, &blob, NULL) != WIO_OK) {
        return WIO_OK; /* no /proc: the trace says so by not having it */
    }
    return wio_segment_meta(segment, WIO_SEGMENT_META_MOUNTS, (const char *)blob.data, blob.size,
                            err);
}

static enum wio_status put_private(const struct wio_description *description,
                                   struct wio_segment *segment, struct wio_error *err)
{
    WIO_TRY(put_list(segment, WIO_SEGMENT_META_COMMAND, description->command, NULL, err));
    WIO_TRY(
        put_list(segment, WIO_SEGMENT_META_ENVIRONMENT, description->environment, is_kept, err));
    return put_mounts(segment, err);
}

static enum wio_status put_end(const struct wio_description *description,
                               struct wio_segment *segment, struct wio_error *err)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", description->exit_status);
    WIO_TRY(put(segment, WIO_SEGMENT_META_EXIT_STATUS, number, err));
    return description->is_done ? put(segment, WIO_SEGMENT_META_RECORDER_DONE, "1", err) : WIO_OK;
}

static enum wio_status write_meta(const struct wio_description *description,
                                  struct wio_segment *segment, struct wio_error *err)
{
    WIO_TRY(put(segment, WIO_SEGMENT_META_VERSION, WIO_VERSION, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_LAUNCH, description->launch, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_OPTIONS, description->options, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_HOST, description->host, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_KERNEL, description->kernel, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_CPUS, description->cpus, err));
    WIO_TRY(put(segment, WIO_SEGMENT_META_MACHINE, description->machine, err));
    if (!description->anonymize) {
        WIO_TRY(put_private(description, segment, err));
    }
    return description->is_ended ? put_end(description, segment, err) : WIO_OK;
}

enum wio_status wio_description_write(void *arg, struct wio_segment *segment, struct wio_error *err)
{
    return write_meta(arg, segment, err);
}

enum wio_status wio_description_begin(const struct wio_description *description, const char *dir,
                                      const char *name, struct wio_error *err)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s.begin.seg", dir, name);
    const struct wio_segment_params params = {
        .struct_size = sizeof(params),
        .base_unix_ns = wio_clock_unix_ns(),
        .base_mono_ns = wio_clock_mono_ns(),
        .boot_id = description->boot_id,
    };
    struct wio_segment *segment = NULL;
    WIO_TRY(wio_segment_create(path, &params, &segment, err));
    wio_segment_set_passing(segment);
    enum wio_status status = write_meta(description, segment, err);
    if (status != WIO_OK) {
        wio_segment_abandon(segment);
        return status;
    }
    return wio_segment_finish(segment, err);
}
