/* SPDX-License-Identifier: Apache-2.0 */
/* Writing HOST.json (host.h): what was measured of a machine, by the names of its keys. */
#ifndef WIO_MACHINE_HOST_WRITE_H
#define WIO_MACHINE_HOST_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <whyio/status.h>

#include "model/model.h"

/* A parameter of the model, or the cost of a metadata operation. */
struct wio_host_number {
    const char *key;
    double value;
    double spread;   /* relative standard deviation; NaN: not known */
    bool is_assumed; /* as good as unknown */
    bool is_better_with_root;
    bool is_better_with_bytes;
};

struct wio_host_table {
    const char *key;
    const struct wio_model_table *table;
    double spread; /* NaN: not known */
};

/* All arrays and texts are borrowed. */
struct wio_host_measured {
    const struct wio_host_number *params;
    size_t param_count;
    const struct wio_host_table *tables;
    size_t table_count;
    const struct wio_host_number *meta; /* those whose value is NaN are left out */
    size_t meta_count;
    const char *const *doubts; /* why the figures are not to be trusted; none: they are */
    size_t doubt_count;
    uint32_t cpus;  /* 0: not known */
    bool is_direct; /* O_DIRECT was accepted */
    /* "": not known */
    const char *kernel;
    const char *filesystem;
    const char *mount;
    const char *device;
    time_t measured_at;
};

/* What was at `path` is replaced at once or not at all. WIO_ERR_IO names the file. */
WIO_MUST_CHECK enum wio_status wio_host_write(const struct wio_host_measured *measured,
                                              const char *path, struct wio_error *err);

#endif
