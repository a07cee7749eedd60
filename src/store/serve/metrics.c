/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define PREFIX "whyio_store_"
#define NS_PER_S 1e9

/* ---- the snapshot -------------------------------------------------------------------------- */

void serve_metrics_fini(struct serve_metrics *metrics)
{
    free(metrics->tenants);
    metrics->tenants = NULL;
    metrics->listed = 0;
}

static void name_tenant(struct serve_metrics_tenant *tenant, const uint64_t key[2],
                        const struct wio_intake *intake, enum wio_admit_tenant_by by)
{
    const char *job = by == WIO_ADMIT_BY_JOB && key[0] != 0
                          ? wio_intake_job_name(intake, (uint32_t)key[0])
                          : NULL;
    char *name = tenant->name;
    if (job != NULL) {
        (void)snprintf(name, sizeof(tenant->name), "job:%s", job);
    } else if (by == WIO_ADMIT_BY_JOB && key[1] != 0) {
        (void)snprintf(name, sizeof(tenant->name), "uid:%" PRIu64, key[1] - 1);
    } else {
        (void)snprintf(name, sizeof(tenant->name), "%s:%" PRIu64, wio_admit_tenant_name(by),
                       key[0]);
    }
}

static void take_tenant(struct serve_metrics_tenant *tenant,
                        const struct wio_admit_tenant_counts *from)
{
    const struct wio_admit_counts *counts = from->counts;
    tenant->queued = from->queued;
    tenant->weight = from->weight;
    tenant->done = counts->done;
    tenant->refused = wio_admit_refused(counts);
    tenant->expired = counts->expired;
    tenant->bytes = counts->bytes;
    tenant->waited_ns = counts->wait.sum_ns;
    tenant->served_ns = counts->service.sum_ns;
}

static void take_tenants(struct serve_metrics *metrics, const struct wio_admit *shard,
                         const struct wio_intake *intake, enum wio_admit_tenant_by by)
{
    struct wio_admit_tenant_counts one;
    uint32_t i = 0;
    uint32_t most = metrics->tenant_count < SERVE_METRICS_TENANTS_MAX ? metrics->tenant_count
                                                                      : SERVE_METRICS_TENANTS_MAX;
    metrics->tenants = calloc(most > 0 ? most : 1, sizeof(*metrics->tenants));
    while (metrics->tenants != NULL && metrics->listed < most &&
           wio_admit_each_tenant(shard, &i, &one)) {
        struct serve_metrics_tenant *tenant = &metrics->tenants[metrics->listed++];
        take_tenant(tenant, &one);
        if (i == 1) {
            (void)snprintf(tenant->name, sizeof(tenant->name), "others");
        } else {
            name_tenant(tenant, one.key, intake, by);
        }
    }
}

static void take_intake(struct serve_metrics *metrics, struct wio_intake *intake,
                        enum wio_admit_tenant_by by)
{
    const struct wio_admit *shard = wio_intake_shard(intake);
    metrics->is_there = true;
    metrics->kind = wio_admit_get_kind(shard);
    wio_admit_gauges(shard, &metrics->gauges);
    metrics->counts = *wio_admit_counts(shard);
    metrics->tenant_count = metrics->gauges.tenants;
    take_tenants(metrics, shard, intake, by);
}

void serve_metrics_take(struct serve_metrics *metrics, unsigned target, struct node_target *node,
                        enum wio_admit_tenant_by by)
{
    struct wio_intake *intake = node_target_intake(node);
    struct node_target_stat stat;
    if (intake == NULL) {
        return;
    }
    (void)snprintf(metrics->target, sizeof(metrics->target), "%u", target);
    take_intake(metrics, intake, by);
    node_target_stats(node, &stat);
    metrics->server = stat.server;
    metrics->has_transactions = true;
}

void serve_metrics_take_names(struct serve_metrics *metrics, struct wio_intake *intake,
                              enum wio_admit_tenant_by by)
{
    (void)snprintf(metrics->target, sizeof(metrics->target), "catalogue");
    take_intake(metrics, intake, by);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct metric_text {
    struct wio_blob *out;
    enum wio_status status; /* the first failure */
};

WIO_PRINTF(2, 3)
static void put(struct metric_text *text, const char *fmt, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, fmt);
    int bytes = vsnprintf(line, sizeof(line), fmt, arguments);
    va_end(arguments);
    if (text->status == WIO_OK) {
        size_t size = bytes < (int)sizeof(line) ? (size_t)bytes : sizeof(line) - 1;
        text->status = wio_blob_put(text->out, line, size);
    }
}

static void begin(struct metric_text *text, const char *name, const char *type, const char *help)
{
    put(text, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

/* Of a label's value: backslash, quote and line feed are escaped. */
static void put_escaped(struct metric_text *text, const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n') {
            put(text, "\\n");
        } else {
            put(text, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        }
    }
}

enum metric_source { OF_COUNTS, OF_GAUGES, OF_SERVER };
enum metric_width { U32, U64, NS, REAL };

/* A number of each target: where it lies in the snapshot. */
struct metric_family {
    const char *name;
    const char *type;
    const char *help;
    enum metric_source source;
    enum metric_width width;
    size_t at;
};

#define COUNT(field) OF_COUNTS, U64, offsetof(struct wio_admit_counts, field)
#define GAUGE(field, width) OF_GAUGES, width, offsetof(struct wio_admit_gauges, field)
#define SERVER(field, width) OF_SERVER, width, offsetof(struct wio_server_stat, field)

static const struct metric_family families[] = {
    {"requests_arrived_total", "counter", "Requests that came to admission.", COUNT(arrived)},
    {"requests_accepted_total", "counter", "Requests that were accepted.", COUNT(accepted)},
    {"requests_done_total", "counter", "Requests that were served.", COUNT(done)},
    {"requests_expired_total", "counter", "Accepted requests whose time ended in the queue.",
     COUNT(expired)},
    {"requests_cancelled_total", "counter", "Accepted requests whose connection was gone.",
     COUNT(cancelled)},
    {"requests_bytes_total", "counter", "Bytes that were read or written by what was served.",
     COUNT(bytes)},
    {"requests_retried_total", "counter", "Requests that came again with a ticket that held.",
     COUNT(retries)},
    {"tickets_refused_total", "counter", "Tickets that were forged, stale or of another request.",
     COUNT(tickets_refused)},
    {"requests_must_total", "counter", "Requests that are not refused: ends of transactions.",
     COUNT(must)},
    {"windows_pushed_total", "counter", "Windows that were sent without a request to answer.",
     COUNT(pushes)},
    {"queue_requests", "gauge", "Requests that wait.", GAUGE(queued, U32)},
    {"queue_limit_requests", "gauge", "Requests that may wait at all targets of the process.",
     GAUGE(queue_limit, U32)},
    {"queue_wait_seconds", "gauge", "Predicted wait of a request that comes now.",
     GAUGE(wait_ns, NS)},
    {"queue_target_seconds", "gauge", "Wait that policy credit aims at.", GAUGE(target_ns, NS)},
    {"requests_memory_bytes", "gauge", "Memory of requests that wait or run.",
     GAUGE(memory_bytes, U64)},
    {"requests_memory_limit_bytes", "gauge", "Cap of that memory.", GAUGE(memory_limit, U64)},
    {"requests_reserve_bytes", "gauge", "Part of the cap for what is not refused.",
     GAUGE(reserve_bytes, U64)},
    {"clients", "gauge", "Clients that are connected.", GAUGE(clients, U32)},
    {"tenants", "gauge", "Tenants that are told apart.", GAUGE(tenants, U32)},
    {"drain_ratio", "gauge", "Estimated service time that is served in a unit of time.",
     GAUGE(drain, REAL)},
    {"credits", "gauge", "Total of credits of policy credit.", GAUGE(credits, REAL)},
    {"transactions_committed_total", "counter", "Transactions that committed.",
     SERVER(commits, U64)},
    {"transactions_aborted_total", "counter", "Transactions that aborted.", SERVER(aborts, U64)},
    {"transactions", "gauge", "Transactions that are open.", SERVER(txns, U32)},
    {"lock_waits_total", "counter", "Requests that waited for a lock.", SERVER(waits, U64)},
    {"lock_refusals_total", "counter", "Requests that the lock manager refused.",
     SERVER(refusals, U64)},
    {"wounds_total", "counter", "Transactions that an older one asked to end.",
     SERVER(wounds, U64)},
    {"leases_ended_total", "counter", "Clients whose lease ended.", SERVER(leases_ended, U64)},
};

static const char *source_of(const struct serve_metrics *metrics,
                             const struct metric_family *family)
{
    switch (family->source) {
    case OF_COUNTS:
        return (const char *)&metrics->counts + family->at;
    case OF_GAUGES:
        return (const char *)&metrics->gauges + family->at;
    case OF_SERVER:
        break;
    }
    return (const char *)&metrics->server + family->at;
}

static void put_value(struct metric_text *text, const char *at, enum metric_width width)
{
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    double real = 0;
    switch (width) {
    case U32:
        memcpy(&u32, at, sizeof(u32));
        put(text, "%" PRIu32 "\n", u32);
        break;
    case U64:
        memcpy(&u64, at, sizeof(u64));
        put(text, "%" PRIu64 "\n", u64);
        break;
    case NS:
        memcpy(&u64, at, sizeof(u64));
        put(text, "%.9g\n", (double)u64 / NS_PER_S);
        break;
    case REAL:
        memcpy(&real, at, sizeof(real));
        put(text, "%.6g\n", real);
        break;
    }
}

static void put_family(struct metric_text *text, const struct metric_family *family,
                       const struct serve_metrics *list, unsigned count)
{
    begin(text, family->name, family->type, family->help);
    for (unsigned i = 0; i < count; i++) {
        bool has_it = family->source != OF_SERVER || list[i].has_transactions;
        if (list[i].is_there && has_it) {
            put(text, PREFIX "%s{target=\"%s\"} ", family->name, list[i].target);
            put_value(text, source_of(&list[i], family), family->width);
        }
    }
}

static void put_refusals(struct metric_text *text, const struct serve_metrics *list, unsigned count)
{
    begin(text, "requests_refused_total", "counter", "Requests that were refused, by reason.");
    for (unsigned i = 0; i < count; i++) {
        for (unsigned reason = WIO_ADMIT_REASON_MEMORY;
             list[i].is_there && reason < WIO_ADMIT_REASON_EXPIRED; reason++) {
            put(text, PREFIX "requests_refused_total{target=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
                list[i].target, wio_admit_reason_name((enum wio_admit_reason)reason),
                list[i].counts.refused[reason]);
        }
    }
}

static void put_policies(struct metric_text *text, const struct serve_metrics *list, unsigned count)
{
    begin(text, "policy_info", "gauge", "The policy of admission, as a label.");
    for (unsigned i = 0; i < count; i++) {
        if (list[i].is_there) {
            put(text, PREFIX "policy_info{target=\"%s\",policy=\"%s\"} 1\n", list[i].target,
                wio_admit_kind_name(list[i].kind));
        }
    }
}

/* ---- histograms ---------------------------------------------------------------------------- */

struct histogram_family {
    const char *name;
    const char *help;
    size_t at;
};

static const struct histogram_family histograms[] = {
    {"request_wait_seconds", "Time in the queue.", offsetof(struct wio_admit_counts, wait)},
    {"request_service_seconds", "Time of the loop until the answer.",
     offsetof(struct wio_admit_counts, service)},
    {"request_wait_error_seconds", "Difference of the predicted time in the queue to it.",
     offsetof(struct wio_admit_counts, wait_error)},
    {"request_service_error_seconds", "Difference of the estimated service time to it.",
     offsetof(struct wio_admit_counts, service_error)},
};

static void put_histogram(struct metric_text *text, const char *name, const char *target,
                          const struct wio_admit_histogram *histogram)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i + 1 < WIO_ADMIT_BUCKETS; i++) {
        sum += histogram->buckets[i];
        put(text, PREFIX "%s_bucket{target=\"%s\",le=\"%.9g\"} %" PRIu64 "\n", name, target,
            (double)(UINT64_C(1) << (i + WIO_ADMIT_FIRST_BITS)) / NS_PER_S, sum);
    }
    sum += histogram->buckets[WIO_ADMIT_BUCKETS - 1];
    put(text, PREFIX "%s_bucket{target=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, target, sum);
    put(text, PREFIX "%s_sum{target=\"%s\"} %.9g\n", name, target,
        (double)histogram->sum_ns / NS_PER_S);
    put(text, PREFIX "%s_count{target=\"%s\"} %" PRIu64 "\n", name, target, sum);
}

static void put_histograms(struct metric_text *text, const struct serve_metrics *list,
                           unsigned count)
{
    for (unsigned h = 0; h < WIO_ARRAY_SIZE(histograms); h++) {
        begin(text, histograms[h].name, "histogram", histograms[h].help);
        for (unsigned i = 0; i < count; i++) {
            const char *counts = (const char *)&list[i].counts;
            struct wio_admit_histogram histogram;
            memcpy(&histogram, counts + histograms[h].at, sizeof(histogram));
            if (list[i].is_there) {
                put_histogram(text, histograms[h].name, list[i].target, &histogram);
            }
        }
    }
}

/* ---- tenants ------------------------------------------------------------------------------- */

static const struct metric_family tenant_families[] = {
    {"tenant_requests_done_total", "counter", "Requests of a tenant that were served.", OF_COUNTS,
     U64, offsetof(struct serve_metrics_tenant, done)},
    {"tenant_requests_refused_total", "counter", "Requests of a tenant that were refused.",
     OF_COUNTS, U64, offsetof(struct serve_metrics_tenant, refused)},
    {"tenant_requests_expired_total", "counter", "Requests of a tenant that expired in the queue.",
     OF_COUNTS, U64, offsetof(struct serve_metrics_tenant, expired)},
    {"tenant_requests_bytes_total", "counter", "Bytes that a tenant read or wrote.", OF_COUNTS, U64,
     offsetof(struct serve_metrics_tenant, bytes)},
    {"tenant_wait_seconds_total", "counter", "Time of a tenant's requests in the queue.", OF_COUNTS,
     NS, offsetof(struct serve_metrics_tenant, waited_ns)},
    {"tenant_service_seconds_total", "counter", "Time of the loop for a tenant.", OF_COUNTS, NS,
     offsetof(struct serve_metrics_tenant, served_ns)},
    {"tenant_queue_requests", "gauge", "Requests of a tenant that wait.", OF_COUNTS, U32,
     offsetof(struct serve_metrics_tenant, queued)},
    {"tenant_weight", "gauge", "Share of a tenant beside others.", OF_COUNTS, U32,
     offsetof(struct serve_metrics_tenant, weight)},
};

static void put_tenants(struct metric_text *text, const struct metric_family *family,
                        const struct serve_metrics *list, unsigned count)
{
    begin(text, family->name, family->type, family->help);
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t t = 0; list[i].is_there && t < list[i].listed; t++) {
            const struct serve_metrics_tenant *tenant = &list[i].tenants[t];
            put(text, PREFIX "%s{target=\"%s\",tenant=\"", family->name, list[i].target);
            put_escaped(text, tenant->name);
            put(text, "\"} ");
            put_value(text, (const char *)tenant + family->at, family->width);
        }
    }
}

enum wio_status serve_metrics_put(struct wio_blob *out, const struct serve_metrics *list,
                                  unsigned count)
{
    struct metric_text text = {out, WIO_OK};
    put_policies(&text, list, count);
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(families); i++) {
        put_family(&text, &families[i], list, count);
    }
    put_refusals(&text, list, count);
    put_histograms(&text, list, count);
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(tenant_families); i++) {
        put_tenants(&text, &tenant_families[i], list, count);
    }
    return text.status;
}
