/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine described in a file: HOST.json, as `whyio calibrate` writes it.
 *
 *     {"schema": "whyio.host/1", "bw_mem": 8e9, "bw_ramdisk": 4e9, ...,
 *      "meta": {"open": 2e-6, ...}, "devices": [{"path": "/scratch", "bw_dev": 1e9, ...}]}
 *
 * The numbers are the parameters of src/model/model.h under their names. Tables are lists of
 * [bytes, seconds]: direct_table, sync_table, append_table, direct_nosync_table, or one dev_table
 * that stands in for direct_table and sync_table where these are missing. "meta" is meta.h's. Other
 * keys are for information.
 *
 * "net_bw", "net_lat": bytes per second, and seconds a message, that exchanging data costs.
 *
 * "trusted": false: the figures are in doubt, for the reasons of "doubts".
 *
 * "cpus": processors of the machine, for what computes beside the I/O of a trace.
 *
 * "store": of a device whose files are those of a store: host_store.h. Further devices do not
 * inherit it.
 *
 * "devices": further devices of the machine, each for the files below its path. What they do not
 * say is as for the machine, but for tables of direct and synchronous writes, which are of one
 * device, and for what stands for a number of their own, or is measured with it (whyio-predict(1)).
 */
#ifndef WIO_MACHINE_HOST_H
#define WIO_MACHINE_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/buf.h"
#include "machine/host_store.h"
#include "machine/meta.h"
#include "model/model.h"

#define WIO_HOST_CPUS_MAX (1 << 20)

struct wio_host_device {
    char *path; /* owned; "" for the first one, which has all files that no other has */
    struct wio_model_params params;
    struct wio_meta meta;
    struct wio_host_store
        store;            /* what its files are of; the numbers above are then for the rest */
    double spread_bw_dev; /* relative; 0: not said */
};

/* A key that was skipped and looks like a misspelt one. */
#define WIO_HOST_KEY_MAX 40
struct wio_host_misspelt {
    const char *file;           /* as the caller has named it; borrowed */
    const char *meant;          /* what may be meant; static text; NULL: there is none .. */
    char key[WIO_HOST_KEY_MAX]; /* .. for this; what cannot be printed is '?' */
};

/* What whyio calibrate itself says about its figures. The worst of several hosts counts. */
enum wio_host_trusted { WIO_HOST_TRUSTED, WIO_HOST_TRUST_NOT_TOLD, WIO_HOST_DOUBTED };
#define WIO_HOST_DOUBT_MAX 160
struct wio_host_trust {
    enum wio_host_trusted is;
    const char *file;               /* as the caller has named it; borrowed */
    uint32_t doubts;                /* how many there are */
    char doubt[WIO_HOST_DOUBT_MAX]; /* the first; what cannot be printed is '?'; "": not said */
};

/* Release with wio_host_fini. */
struct wio_host {
    struct wio_host_device *devices; /* owned; at least one */
    uint32_t device_count;
    uint32_t cpus;                     /* 0: not said */
    double net_bw;                     /* bytes/s between two hosts; NaN: not said */
    double net_lat;                    /* s, of one message; NaN: not said */
    struct wio_host_misspelt misspelt; /* the first one */
    struct wio_host_trust trust;
};

void wio_host_fini(struct wio_host *host);

/*
 * Read and check `path`. WIO_ERR_FORMAT names the file, the place where it is no JSON, or the
 * parameter (and device) that is missing or wrong; WIO_ERR_IO where it cannot be read. Thread safe.
 */
WIO_MUST_CHECK enum wio_status wio_host_load(const char *path, struct wio_host *host_out,
                                             struct wio_error *err);
/* The same of a text that is there; `path` names it in errors. */
WIO_MUST_CHECK enum wio_status wio_host_parse(const struct wio_blob *text, const char *path,
                                              struct wio_host *host_out, struct wio_error *err);
/* The same for callers with one device: the first one's parameters. */
WIO_MUST_CHECK enum wio_status wio_host_read(const char *path, struct wio_model_params *params_out,
                                             struct wio_error *err);

/* Which device has the file: that with the longest path above it. */
uint32_t wio_host_device_of(const struct wio_host *host, const char *file);

#endif
