/* SPDX-License-Identifier: Apache-2.0 */
/* What targets tell of themselves, as a snapshot, and that as text for Prometheus (exposition
 * format 0.0.4: prometheus.io/docs/instrumenting/exposition_formats). */
#ifndef WIO_STORE_SERVE_METRICS_H
#define WIO_STORE_SERVE_METRICS_H

#include "base/buf.h"
#include "store/node/node_target.h"

enum {
    SERVE_METRICS_SERVER_BYTES = 16,
    SERVE_METRICS_NAME_BYTES = 160,
    SERVE_METRICS_TENANTS_MAX = 1024
};

struct serve_metrics_tenant {
    char name[SERVE_METRICS_NAME_BYTES]; /* "job:NAME", "uid:N", .. */
    uint32_t queued;
    uint32_t weight;
    uint64_t done;
    uint64_t refused;
    uint64_t expired;
    uint64_t bytes;
    uint64_t waited_ns;
    uint64_t served_ns;
};

/* Of one target, or of the catalogue. */
struct serve_metrics {
    char target[SERVE_METRICS_SERVER_BYTES]; /* the label: its index, or "catalogue" */
    bool is_there;                           /* else it has ended */
    bool has_transactions;                   /* `server` is set: of a target */
    enum wio_admit_kind kind;
    struct wio_admit_gauges gauges;
    struct wio_admit_counts counts;
    struct wio_server_stat server;
    uint32_t tenant_count; /* true number .. */
    uint32_t listed;       /* .. and of those below */
    struct serve_metrics_tenant *tenants;
};

void serve_metrics_fini(struct serve_metrics *metrics);
/* From the target's thread, or while that is held. Without memory it has fewer tenants. */
void serve_metrics_take(struct serve_metrics *metrics, unsigned target, struct node_target *node,
                        enum wio_admit_tenant_by by);
/* The same of the catalogue. */
void serve_metrics_take_names(struct serve_metrics *metrics, struct wio_intake *intake,
                              enum wio_admit_tenant_by by);
WIO_MUST_CHECK enum wio_status serve_metrics_put(struct wio_blob *out,
                                                 const struct serve_metrics *list, unsigned count);

#endif
