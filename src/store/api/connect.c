/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a store: first to the catalogue, which names the targets, then to these. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/sized.h"
#include "job/job.h"
#include "store/api/api_internal.h"
#include "store/session/intake.h"
#include "store/wire/entries.h"
#include "store/wire/results.h"

#define SECOND_NS UINT64_C(1000000000)
#define TIMEOUT_NS (30 * SECOND_NS)

enum { TXNS_MAX = 65536, NAMES_TXNS_MAX = 1, CGROUP_BYTES_MAX = 65536 };

/* ---- connections that are lost ------------------------------------------------------------- */

static void data_lost(void *context, uint16_t target, enum wio_link_end why)
{
    struct wio_store *store = context;
    (void)pthread_mutex_lock(&store->mutex);
    store->is_lost[target] = true;
    store->why[target] = why;
    (void)pthread_mutex_unlock(&store->mutex);
}

static void data_back(void *context, uint16_t target, bool is_known)
{
    struct wio_store *store = context;
    (void)pthread_mutex_lock(&store->mutex);
    store->info.leases_lost += store->is_lost[target] && !is_known;
    store->is_lost[target] = false;
    (void)pthread_mutex_unlock(&store->mutex);
}

static void job(void *context, uint16_t target, const struct wio_wire_job *said)
{
    struct wio_store *store = context;
    api_labels_job(&store->labels, target, said);
}

static void source(void *context, uint16_t target, const struct wio_store_request *define)
{
    struct wio_store *store = context;
    (void)target;
    api_labels_source(&store->labels, define);
}

static const struct wio_targets_events data_events = {
    .lost = data_lost, .back = data_back, .job = job, .source = source};

/* A server that closes so many connections in a row has heard another key, and one that waited for
 * so long before it did has waited for a tag. */
enum { CLOSED_MAX = 3 };
#define WAITED_NS (2 * SECOND_NS)

/* No further try will do better. A server that has not started yet may come. `is_final`: the
 * network says so. */
static bool is_hopeless(struct wio_store *store, enum wio_link_end why, bool is_final)
{
    store->closed_in_a_row = why == WIO_LINK_ENDED_BY_PEER ? store->closed_in_a_row + 1 : 0;
    uint64_t now_ns = store->io->ops->now_ns(store->io);
    bool has_waited = now_ns - store->tried_ns > WAITED_NS;
    store->tried_ns = now_ns;
    return why == WIO_LINK_ENDED_BY_PEER ? has_waited || store->closed_in_a_row == CLOSED_MAX
                                         : why != WIO_LINK_BROKEN || is_final;
}

static const char *why_not_made(struct wio_io *io, bool *is_final_out)
{
    return io->ops->connect_failure != NULL ? io->ops->connect_failure(io, is_final_out) : NULL;
}

/* Of the catalogue. */
static void names_lost(void *context, uint16_t target, enum wio_link_end why)
{
    struct wio_store *store = context;
    bool is_final = false;
    const char *failure = why == WIO_LINK_BROKEN ? why_not_made(store->io, &is_final) : NULL;
    (void)target;
    (void)pthread_mutex_lock(&store->mutex);
    store->is_catalogue_lost = true;
    store->catalogue_why = why;
    store->catalogue_failure = failure;
    (void)pthread_mutex_unlock(&store->mutex);
    if (store->connecting != NULL && is_hopeless(store, why, is_final)) {
        struct api_call *call = store->connecting;
        store->connecting = NULL;
        api_call_fail(call, WIO_ERR_IO, ECONNREFUSED, "cannot connect to the store at %s: %s%s",
                      store->address, failure != NULL ? failure : wio_link_end_text(why),
                      why == WIO_LINK_ENDED_BY_PEER ? ": is the key that of the store?" : "");
    }
}

static void names_back(void *context, uint16_t target, bool is_known)
{
    struct wio_store *store = context;
    (void)target;
    (void)is_known;
    (void)pthread_mutex_lock(&store->mutex);
    store->is_catalogue_lost = false;
    (void)pthread_mutex_unlock(&store->mutex);
}

static const struct wio_targets_events names_events = {.lost = names_lost, .back = names_back};

/* ---- the targets --------------------------------------------------------------------------- */

static bool keep_addresses(struct wio_store *store, const char *const *addresses, uint16_t count)
{
    char(*copy)[WIO_LINK_ADDRESS_BYTES] = calloc(count, sizeof(*copy));
    enum wio_link_end *why = calloc(count, sizeof(*why));
    bool *is_lost = calloc(count, sizeof(*is_lost));
    for (uint16_t i = 0; copy != NULL && i < count; i++) {
        (void)snprintf(copy[i], sizeof(copy[i]), "%s", addresses[i]);
    }
    (void)pthread_mutex_lock(&store->mutex);
    store->addresses = copy;
    store->why = why;
    store->is_lost = is_lost;
    bool is_ok = copy != NULL && why != NULL && is_lost != NULL;
    store->targets = is_ok ? count : 0;
    (void)pthread_mutex_unlock(&store->mutex);
    return is_ok;
}

static enum wio_status begin_data(struct wio_store *store, const char *const *addresses,
                                  uint16_t count, struct wio_error *err)
{
    const struct wio_session_config config = {
        .link = &store->link,
        .hello = store->hello,
        .addresses = addresses,
        .targets = count,
        .txns_max = TXNS_MAX,
        .ops = &api_engine_ops,
        .context = store,
        .events = &data_events,
    };
    if (!keep_addresses(store, addresses, count)) {
        return api_nomem(err);
    }
    return wio_session_create(store->io, &config, &store->data, err);
}

/* Once: what a store consists of stays. */
static void targets_came(struct wio_coord_ask *ask, const struct wio_store_reply *reply)
{
    struct wio_store *store = ask->owner;
    struct api_call *call = store->connecting;
    const char *addresses[WIO_STORE_PARTICIPANTS_MAX];
    uint16_t count = 0;
    if (call == NULL) {
        return;
    }
    store->connecting = NULL;
    if (reply->result != WIO_STORE_OK ||
        wio_wire_get_targets(reply->data, reply->data_size, addresses, &count) != WIO_OK) {
        api_call_fail(call, WIO_ERR_IO, EPROTO, "%s does not name the targets of a store",
                      store->address);
        return;
    }
    call->err.status = begin_data(store, addresses, count, &call->err);
    api_call_finish(call);
}

struct connect_call {
    struct api_call call; /* first */
    struct wio_store *store;
};

static void connect_start(struct api_call *call)
{
    struct wio_store *store = ((struct connect_call *)call)->store;
    store->connecting = call;
    store->targets_ask = (struct wio_coord_ask){
        .request = {.op = WIO_STORE_TARGETS}, .answered = targets_came, .owner = store};
    if (wio_coord_ask(wio_session_coord(store->names), 0, &store->targets_ask) != WIO_OK) {
        store->connecting = NULL;
        api_call_fail(call, WIO_ERR_INTERNAL, 0, "cannot ask the catalogue");
    }
}

static void connect_abandoned(struct api_call *call)
{
    ((struct connect_call *)call)->store->connecting = NULL;
    api_call_finish(call);
}

static void connect_destroy(struct api_call *call)
{
    free(call);
}

static const struct api_call_ops connect_ops = {connect_start, connect_abandoned, connect_destroy};

/* ---- the loop ------------------------------------------------------------------------------ */

static enum wio_status begin(void *context, struct wio_io *io, struct wio_error *err)
{
    struct wio_store *store = context;
    const char *address = store->address;
    while (store->hello.client == 0) {
        io->ops->random(io, &store->hello.client, sizeof(store->hello.client));
    }
    const struct wio_session_config config = {
        .link = &store->link,
        .hello = store->hello,
        .addresses = &address,
        .targets = 1,
        .txns_max = NAMES_TXNS_MAX,
        .ops = &api_engine_ops,
        .context = store,
        .events = &names_events,
    };
    store->io = io;
    store->tried_ns = io->ops->now_ns(io);
    return wio_session_create(io, &config, &store->names, err);
}

static void woken(void *context)
{
    api_engine_pump(context);
    api_ask_pump(context);
}

static void end(void *context)
{
    struct wio_store *store = context;
    wio_session_destroy(store->data);
    wio_session_destroy(store->names);
}

static const struct api_loop_ops loop_ops = {begin, woken, end};

/* ---- what HELLO says ---------------------------------------------------------------------------
 */

/* Texts of HELLO have no control characters. */
static void set_text(char *to, size_t size, const char *text)
{
    (void)snprintf(to, size, "%s", text != NULL ? text : "");
    for (char *at = to; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
    }
}

/* The job of this process: as given, or found out as docs/JOBS.md says. `job` has the room of the
 * longest. */
static void find_job(const struct wio_store_params *params, char *job, size_t size)
{
    extern char **environ;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob cgroup = {0};
    if (params->job != NULL) {
        const size_t bytes = strlen(params->job);
        if (bytes < size) { /* a longer one is none: it is not cut */
            memcpy(job, params->job, bytes + 1);
        }
        return;
    }
    (void)!wio_io_read_file("/proc/self/cgroup", CGROUP_BYTES_MAX, &cgroup, NULL);
    bool has_cgroup = wio_blob_put(&cgroup, "", 1) == WIO_OK;
    const struct wio_job_source source = {.environ = (const char *const *)environ,
                                          .cgroup = has_cgroup ? (const char *)cgroup.data : NULL,
                                          .variable = wio_env_get(WIO_ENV_JOB_ENV),
                                          .fixed = wio_env_get(WIO_ENV_JOB)};
    (void)wio_job_resolve(&source, job, size);
}

/* HELLO can have it as it is. */
static bool is_short(const char *job)
{
    bool is_plain = strlen(job) < WIO_WIRE_JOB_BYTES;
    for (const char *at = job; *at != '\0'; at++) {
        is_plain = is_plain && (unsigned char)*at >= ' ' && *at != 0x7f;
    }
    return is_plain;
}

static void introduce(struct wio_store *store, const struct wio_store_params *params,
                      const char *job)
{
    struct wio_wire_hello *hello = &store->hello;
    char executable[WIO_WIRE_EXECUTABLE_BYTES] = "";
    char host[WIO_WIRE_HOST_BYTES] = "";
    (void)gethostname(host, sizeof(host) - 1);
    ssize_t bytes = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
    executable[bytes > 0 ? bytes : 0] = '\0';
    hello->uid = (uint32_t)geteuid();
    hello->gid = (uint32_t)getegid();
    hello->pid = (uint32_t)getpid();
    hello->role = WIO_WIRE_ROLE_CLIENT;
    if (is_short(job)) {
        memcpy(hello->job, job, strlen(job) + 1);
    }
    set_text(hello->project, sizeof(hello->project), params->project);
    set_text(hello->host, sizeof(hello->host), host);
    set_text(hello->executable, sizeof(hello->executable), executable);
}

static enum wio_status prepare(struct wio_store *store, const struct wio_store_params *params,
                               const char *job, struct wio_error *err)
{
    struct api_where where;
    WIO_TRY(api_where_find(params, &where, err));
    memcpy(store->address, where.address, sizeof(store->address));
    store->timeout_ns = params->timeout_ns > 0 ? params->timeout_ns : TIMEOUT_NS;
    store->link.limits = wio_link_limits_default;
    wio_intake_offer(&store->link.features);
    if (where.has_key) {
        store->link.auth = WIO_WIRE_AUTH_KEY;
        store->link.key = where.key;
        wio_link_key_forget(&where.key);
    } else if (params->is_munge) {
        WIO_TRY(wio_munge_init(&store->munge, NULL, err));
        store->link.auth = WIO_WIRE_AUTH_MUNGE;
        store->link.credentials = &store->munge.credentials;
        store->link.server_uid = params->server_uid;
    }
    if (store->link.auth != WIO_WIRE_AUTH_OPEN) {
        WIO_TRY(wio_link_keys_begin(err));
    }
    store->link.features.bits[0] |= WIO_STORE_FEATURE_JOBS | WIO_STORE_FEATURE_LAST;
    introduce(store, params, job);
    return WIO_OK;
}

/* ---- life ---------------------------------------------------------------------------------- */

void wio_store_disconnect(struct wio_store *store)
{
    if (store == NULL) {
        return;
    }
    api_loop_destroy(store->loop);
    api_labels_fini(&store->labels);
    api_callers_fini(&store->callers);
    (void)pthread_mutex_destroy(&store->mutex);
    wio_link_key_forget(&store->link.key);
    free(store->addresses);
    free(store->why);
    free(store->is_lost);
    free(store);
}

static void disconnect(struct wio_store **store)
{
    wio_store_disconnect(*store);
}

static enum wio_status ask_targets(struct wio_store *store, struct wio_error *err)
{
    struct connect_call *connect = calloc(1, sizeof(*connect));
    if (connect == NULL) {
        return api_nomem(err);
    }
    api_call_init(&connect->call, &connect_ops);
    connect->store = store;
    struct wio_error own = WIO_ERROR_INIT;
    enum wio_status status =
        api_loop_run(store->loop, &connect->call, api_deadline_ns(store, 0), &own);
    api_call_release(&connect->call);
    if (status != WIO_OK && own.sys_errno == ETIMEDOUT) {
        api_explain_timeout(store, &own);
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
}

enum wio_status wio_store_connect(const struct wio_store_params *given,
                                  struct wio_store **store_out, struct wio_error *err)
{
    struct wio_store_params params = {0};
    WIO_TRY(wio_take_sized(&params, sizeof(params), given, "struct wio_store_params", err));
    WIO_CLEANUP(disconnect) struct wio_store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return api_nomem(err);
    }
    (void)pthread_mutex_init(&store->mutex, NULL);
    TAILQ_INIT(&store->starving);
    TAILQ_INIT(&store->asking);
    char job[WIO_STORE_PATH_MAX + 1] = "";
    api_callers_init(&store->callers);
    find_job(&params, job, sizeof(job));
    WIO_TRY(prepare(store, &params, job, err));
    WIO_TRY(api_loop_create(&loop_ops, store, &store->loop, err));
    WIO_TRY(ask_targets(store, err));
    if (!is_short(job)) {
        WIO_TRY(api_job(store, job, strlen(job), &store->own_job, err));
    }
    *store_out = store;
    store = NULL;
    return WIO_OK;
}
