/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/serve.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/catalogue/catalogue.h"
#include "store/link/munge_credentials.h"
#include "store/net/net.h"
#include "store/node/sizes.h"
#include "store/serve/admin.h"
#include "store/serve/layout.h"
#include "store/serve/meeting.h"
#include "store/serve/place.h"
#include "store/serve/remains.h"
#include "store/serve/target_thread.h"
#include "store/session/catalogue_server.h"
#include "store/storage/root.h"

#define WATCH_NS UINT64_C(3600000000000)
#define LAUNCHER_NS UINT64_C(1000000000) /* how often a job's launcher is looked at */
/* Of a trace, where the caller has no other wish. */
#define SERVE_TRACE_BYTES UINT64_C(1073741824)

/* Without a trace: rows of each target in memory (3 MB), and bytes of what is written of them. */
enum { SERVE_FLIGHT_ROWS = 16384, SERVE_FLIGHT_BYTES = 64 << 20 };

enum { SERVE_TRACE_NAME_BYTES = 112 };

struct serve {
    const struct wio_serve_config *config;
    char root[PATH_MAX];
    char address[WIO_LINK_ADDRESS_BYTES];
    char flight[PATH_MAX + 16]; /* where rows that were in memory are written */
    uint64_t started_ns;        /* since 1970: in names of segments */
    int lock;                   /* on the root */
    struct wio_net *net;
    struct serve_layout layout;
    struct wio_link_config link;
    struct wio_munge munge;
    struct wio_catalogue *catalogue;
    struct wio_catalogue_server *names;
    struct wio_tracer *tracer; /* of the catalogue; may be NULL */
    struct target_thread *targets[WIO_SERVE_TARGETS_MAX];
    struct serve_admin admin;
    struct serve_http *http; /* NULL: no metrics */
    uint16_t first;          /* index of the first of them .. */
    uint16_t total;          /* .. among so many of the store */
    const char *addresses[WIO_SERVE_RANKS_MAX];
    struct serve_meeting meeting; /* of a job */
    int remains;                  /* of a job: its files go with this process */
    char met[WIO_SERVE_RANKS_MAX][WIO_LINK_ADDRESS_BYTES];
    struct wio_io_timer *watch; /* a loop without a listener waits for signals, too */
    pid_t launcher;             /* of a job: this process ends with it */
    bool is_begun;              /* all servers of the process are there */
    bool is_ended;
    bool has_failed; /* the catalogue */
};

/* ---- the root ------------------------------------------------------------------------------ */

static enum wio_status check_size(struct serve *serve, struct wio_error *err)
{
    const struct wio_serve_config *config = serve->config;
    struct wio_io *io = wio_net_io(serve->net);
    struct wio_io_space space;
    uint16_t targets = serve->layout.targets;
    if (targets == 0) {
        return WIO_OK;
    }
    if (config->size_bytes != 0 && config->size_bytes / targets == 0) {
        return wio_error_set(err, WIO_ERR_USAGE, serve->root, WIO_ERROR_NO_OFFSET,
                             "--size: expected at least a byte for each of %u targets", targets);
    }
    if (config->size_bytes == 0 || !serve->layout.is_new) {
        return WIO_OK;
    }
    WIO_TRY(io->ops->space(io, &space, err));
    uint64_t kept = targets * node_sizes_for(config->size_bytes / targets).keep_free_bytes;
    if (space.free_bytes < kept || space.free_bytes - kept < config->size_bytes) {
        return wio_error_set(err, WIO_ERR_USAGE, serve->root, WIO_ERROR_NO_OFFSET,
                             "--size: expected %llu bytes free, and %llu for the logs of %u "
                             "targets; found %llu",
                             (unsigned long long)config->size_bytes, (unsigned long long)kept,
                             targets, (unsigned long long)space.free_bytes);
    }
    return WIO_OK;
}

static enum wio_status open_root(struct serve *serve, struct wio_error *err)
{
    WIO_TRY(serve_place_open(serve->config->root, serve->root, sizeof(serve->root), err));
    (void)snprintf(serve->flight, sizeof(serve->flight), "%s/flight", serve->root);
    WIO_TRY(wio_store_root_lock(serve->root, &serve->lock, err));
    WIO_TRY(wio_net_create(serve->root, &serve->net, err));
    serve->started_ns = wio_net_io(serve->net)->ops->unix_ns(wio_net_io(serve->net));
    WIO_TRY(serve_layout_open(wio_net_io(serve->net), serve->config->targets, serve->config->part,
                              &serve->layout, err));
    serve->first = serve->layout.first;
    serve->total = serve->layout.total;
    WIO_TRY(check_size(serve, err));
    int bytes = snprintf(serve->address, sizeof(serve->address), "unix:%s/sock", serve->root);
    if (serve->config->address != NULL) {
        bytes = snprintf(serve->address, sizeof(serve->address), "%s", serve->config->address);
    }
    return bytes < (int)sizeof(serve->address)
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                               "the path is too long for a Unix socket below the root: name an "
                               "address");
}

static enum wio_status make_link(struct serve *serve, struct wio_error *err)
{
    const struct wio_serve_config *config = serve->config;
    serve->link = (struct wio_link_config){.auth = config->auth, .limits = wio_link_limits_default};
    WIO_TRY(wio_link_keys_begin(err));
    if (config->auth == WIO_WIRE_AUTH_KEY) {
        serve->link.key = *config->key;
    } else if (config->auth == WIO_WIRE_AUTH_MUNGE) {
        WIO_TRY(wio_munge_init(&serve->munge, NULL, err));
        serve->link.credentials = &serve->munge.credentials;
        serve->link.server_uid = geteuid();
    }
    return WIO_OK;
}

/* Where other nodes reach this one; the system chooses the port. */
static enum wio_status own_address(struct serve *serve, struct wio_error *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (gethostname(host, sizeof(host) - 1) != 0) {
        return wio_error_sys(err, NULL, "cannot find the name of this host");
    }
    (void)snprintf(serve->address, sizeof(serve->address), "%s:0", host);
    return WIO_OK;
}

/* Of a job: keys and index are those of the meeting. */
static enum wio_status join_job(struct serve *serve, struct wio_error *err)
{
    const struct wio_serve_job *job = serve->config->job;
    if (job == NULL) {
        return WIO_OK;
    }
    WIO_TRY(serve_meeting_begin(&serve->meeting, wio_net_io(serve->net), job, serve->remains, err));
    serve->link.auth = WIO_WIRE_AUTH_KEY;
    serve->link.key = serve->meeting.key;
    serve->layout.servers_key = serve->meeting.servers_key;
    serve->first = job->rank;
    serve->total = job->size;
    return own_address(serve, err);
}

static enum wio_status meet(struct serve *serve, struct wio_error *err)
{
    if (serve->config->job == NULL) {
        return WIO_OK;
    }
    WIO_TRY(
        serve_meeting_exchange(&serve->meeting, serve->addresses[serve->first], serve->met, err));
    for (uint16_t i = 0; i < serve->total; i++) {
        serve->addresses[i] = serve->met[i];
    }
    return WIO_OK;
}

/* ---- targets ------------------------------------------------------------------------------- */

/* From a target's thread. */
static void target_changed(void *context)
{
    const struct serve *serve = context;
    wio_net_wake(serve->net);
}

/* HOST.PID.START.SERVER: segments of several stores may lie in one directory, and in a container a
 * process has the number of the one before it. */
static void name_trace(const struct serve *serve, const char *what, uint16_t number,
                       char name[SERVE_TRACE_NAME_BYTES])
{
    struct utsname machine = {0};
    (void)uname(&machine);
    (void)snprintf(name, SERVE_TRACE_NAME_BYTES, "%.64s.%d.%llx.%s%u", machine.nodename,
                   (int)getpid(), (unsigned long long)serve->started_ns, what, number);
}

/* Where target i of this process listens. */
static enum wio_status address_of(const struct serve *serve, uint16_t i,
                                  char address_out[WIO_LINK_ADDRESS_BYTES], struct wio_error *err)
{
    if (serve->layout.role != WIO_SERVE_TARGET) {
        return serve_target_address(serve->address, i, address_out, err);
    }
    (void)snprintf(address_out, WIO_LINK_ADDRESS_BYTES, "%s", serve->address);
    return WIO_OK;
}

/* All rows on disk, or the last ones in memory. */
static struct wio_tracer_config trace_of(const struct serve *serve, uint16_t i, const char *name)
{
    const struct wio_serve_config *config = serve->config;
    const uint64_t max_bytes =
        config->trace_max_bytes == 0 ? SERVE_TRACE_BYTES : config->trace_max_bytes;
    struct wio_tracer_config trace = {.dir = config->trace,
                                      .name = name,
                                      .server = (uint16_t)(serve->first + i),
                                      .max_bytes = max_bytes / serve->layout.targets};
    if (config->trace == NULL) {
        trace.dir = serve->flight;
        trace.max_bytes = SERVE_FLIGHT_BYTES;
        trace.ring_rows = SERVE_FLIGHT_ROWS;
    }
    return trace;
}

static enum wio_status start_target(struct serve *serve, uint16_t i, struct wio_error *err)
{
    char trace_name[SERVE_TRACE_NAME_BYTES];
    const struct wio_tracer_config trace = trace_of(serve, i, trace_name);
    char dir[PATH_MAX + SERVE_TARGET_NAME_BYTES];
    char name[SERVE_TARGET_NAME_BYTES];
    char address[WIO_LINK_ADDRESS_BYTES];
    const uint16_t self = (uint16_t)(serve->first + i);
    const struct target_thread_config config = {
        .dir = dir,
        .address = address,
        .trace = &trace,
        .node = {.link = &serve->link,
                 .servers_key = &serve->layout.servers_key,
                 .addresses = serve->addresses,
                 .self = self,
                 .targets = serve->total,
                 .policy = WIO_LOCK_WOUND_WAIT,
                 .admission = serve->admin.total,
                 .log = serve->config->log,
                 .size_bytes = serve->config->size_bytes / serve->layout.targets,
                 .admin = geteuid()},
        .is_temporary = serve->config->job != NULL,
        .changed = target_changed,
        .context = serve,
    };
    serve_target_name(name, serve->layout.first + i);
    name_trace(serve, "target", self, trace_name);
    (void)snprintf(dir, sizeof(dir), "%s/%s", serve->root, name);
    WIO_TRY(address_of(serve, i, address, err));
    WIO_TRY(target_thread_start(&config, &serve->targets[i], err));
    serve->addresses[self] = target_thread_address(serve->targets[i]);
    return WIO_OK;
}

static enum wio_status begin_admission(struct serve *serve, struct wio_error *err)
{
    struct wio_io *io = wio_net_io(serve->net);
    struct wio_io_space space;
    WIO_TRY(io->ops->space(io, &space, err));
    uint64_t size_bytes =
        serve->config->size_bytes != 0 ? serve->config->size_bytes : space.total_bytes;
    unsigned targets = serve->layout.targets > 0 ? serve->layout.targets : 1; /* none here */
    uint64_t log_bytes = node_sizes_for(size_bytes / targets).checkpoint_bytes;
    return serve_admin_begin(&serve->admin, serve->config, serve->net, serve->layout.targets,
                             log_bytes, err);
}

static enum wio_status start_targets(struct serve *serve, struct wio_error *err)
{
    if (serve->config->trace != NULL) {
        WIO_TRY(wio_io_mkdirs(serve->config->trace, err));
    }
    for (uint16_t i = 0; i < serve->total; i++) {
        const struct wio_serve_part *part = serve->config->part;
        serve->addresses[i] = part != NULL ? part->addresses[i] : ""; /* not known yet */
    }
    WIO_TRY(begin_admission(serve, err));
    for (uint16_t i = 0; i < serve->layout.targets; i++) {
        WIO_TRY(start_target(serve, i, err));
    }
    WIO_TRY(meet(serve, err));
    for (uint16_t i = 0; i < serve->layout.targets; i++) {
        target_thread_set_addresses(serve->targets[i], serve->addresses);
    }
    WIO_TRY(serve_admin_run(&serve->admin, serve->targets, err));
    return serve->config->metrics != NULL
               ? serve_http_begin(&serve->admin, serve->config->metrics, &serve->http, err)
               : WIO_OK;
}

/* ---- the catalogue ------------------------------------------------------------------------- */

static void catalogue_failed(void *context)
{
    struct serve *serve = context;
    serve->has_failed = true;
    wio_net_stop(serve->net);
}

/* Names and layouts of the files that the targets' rows have by number. */
static enum wio_status trace_catalogue(struct serve *serve, struct wio_error *err)
{
    char name[SERVE_TRACE_NAME_BYTES];
    const struct wio_tracer_config config = {.dir = serve->config->trace,
                                             .name = name,
                                             .address = serve->address,
                                             .server = WIO_TRACER_CATALOGUE};
    name_trace(serve, "catalogue", 0, name);
    return config.dir == NULL ? WIO_OK : wio_tracer_create(&config, &serve->tracer, err);
}

static enum wio_status start_catalogue(struct serve *serve, struct wio_error *err)
{
    struct wio_io *io = wio_net_io(serve->net);
    const char *at = NULL;
    const struct wio_catalogue_config names = {.io = io,
                                               .may_create = serve->layout.is_new,
                                               .uid = geteuid(),
                                               .gid = getegid(),
                                               .mode =
                                                   S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH,
                                               .now_ns = (int64_t)io->ops->unix_ns(io)};
    WIO_TRY(wio_catalogue_open(&names, &serve->catalogue, err));
    WIO_TRY(trace_catalogue(serve, err));
    const struct wio_catalogue_server_config config = {.link = serve->link,
                                                       .catalogue = serve->catalogue,
                                                       .servers_key = &serve->layout.servers_key,
                                                       .targets = serve->addresses,
                                                       .target_count = serve->total,
                                                       .tracer = serve->tracer,
                                                       .admin = geteuid(),
                                                       .admission = serve->admin.names_total,
                                                       .failed = catalogue_failed,
                                                       .context = serve};
    WIO_TRY(wio_catalogue_server_create(io, &config, &serve->names, err));
    WIO_TRY(serve_admin_names(&serve->admin, wio_catalogue_server_intake(serve->names), err));
    WIO_TRY(wio_catalogue_server_listen(serve->names, serve->address, &at, err));
    (void)snprintf(serve->address, sizeof(serve->address), "%s", at);
    return serve->config->job != NULL ? serve_meeting_publish(&serve->meeting, at, err) : WIO_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

static void signalled(void *context, int number)
{
    struct serve *serve = context;
    (void)number;
    serve->is_ended = true;
    wio_net_stop(serve->net);
}

static void reload(void *context, int number)
{
    struct serve *serve = context;
    struct wio_error err = WIO_ERROR_INIT;
    (void)number;
    bool is_ok = serve->admin.targets != NULL && serve_admin_reload(&serve->admin, &err) == WIO_OK;
    if (serve->config->reloaded != NULL && serve->admin.targets != NULL) {
        serve->config->reloaded(serve->config->context, is_ok ? NULL : &err);
    }
}

/* One that cannot be flushed keeps none of the others: the first failure counts. */
static enum wio_status flush_targets(struct serve *serve, struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    (void)pthread_mutex_lock(&serve->admin.mutex); /* one holds a target at a time */
    for (unsigned i = 0; i < serve->layout.targets; i++) {
        struct wio_error why = WIO_ERROR_INIT;
        enum wio_status its = target_thread_flush(serve->targets[i], &why);
        if (its != WIO_OK && status == WIO_OK) {
            status = wio_error_pass(err, &why);
        }
    }
    (void)pthread_mutex_unlock(&serve->admin.mutex);
    return status;
}

static enum wio_status flush_traces(struct serve *serve, struct wio_error *err)
{
    struct wio_io *io = wio_net_io(serve->net);
    WIO_TRY(flush_targets(serve, err));
    return serve->tracer != NULL ? wio_tracer_flush(serve->tracer, io->ops->now_ns(io), err)
                                 : WIO_OK;
}

static void flush(void *context, int number)
{
    struct serve *serve = context;
    const struct wio_serve_config *config = serve->config;
    struct wio_error err = WIO_ERROR_INIT;
    (void)number;
    if (!serve->is_begun) {
        return;
    }
    bool is_ok = flush_traces(serve, &err) == WIO_OK;
    if (config->flushed != NULL) {
        config->flushed(config->context, config->trace != NULL ? config->trace : serve->flight,
                        is_ok ? NULL : &err);
    }
}

static bool target_has_failed(const struct serve *serve)
{
    struct wio_error ignored = WIO_ERROR_INIT;
    for (unsigned i = 0; i < serve->layout.targets; i++) {
        if (serve->targets[i] != NULL &&
            target_thread_error(serve->targets[i], &ignored) != WIO_OK) {
            return true;
        }
    }
    return false;
}

/* The process ends then, and the next one recovers. */
static void woken(void *context)
{
    struct serve *serve = context;
    serve_admin_woken(&serve->admin);
    if (target_has_failed(serve)) {
        wio_net_stop(serve->net);
    }
}

static void tell_ready(const struct serve *serve)
{
    char file[PATH_MAX + 16];
    const bool is_job = serve->config->job != NULL;
    (void)snprintf(file, sizeof(file), "@%s.store", serve->meeting.path);
    const struct wio_serve_ready ready = {
        .root = serve->root,
        .role = serve->layout.role,
        .address = is_job ? file : serve->address,
        .targets = serve->addresses,
        .target_count = serve->total,
        .is_new = serve->layout.is_new,
        .metrics_port = serve->http != NULL ? serve_http_port(serve->http) : 0,
        .is_durable = serve_place_is_durable(serve->root)};
    if (serve->config->ready != NULL && (!is_job || serve->first == 0)) {
        serve->config->ready(serve->config->context, &ready);
    }
}

/* A launcher that is killed, or interrupted twice, ends without a signal to what it has begun. */
static void keep_watch(void *context)
{
    struct serve *serve = context;
    if (serve->launcher != 0 && getppid() != serve->launcher) {
        serve->is_ended = true;
        wio_net_stop(serve->net);
        return;
    }
    wio_net_io(serve->net)
        ->ops->timer_set(serve->watch, serve->launcher != 0 ? LAUNCHER_NS : WATCH_NS);
}

static enum wio_status watch_signals(struct serve *serve, struct wio_error *err)
{
    struct wio_io *io = wio_net_io(serve->net);
    serve->watch = io->ops->timer_create(io, keep_watch, serve);
    if (serve->watch == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    keep_watch(serve);
    wio_net_on_wake(serve->net, woken, serve);
    WIO_TRY(wio_net_on_signal(serve->net, SIGHUP, reload, serve, err));
    WIO_TRY(wio_net_on_signal(serve->net, SIGUSR2, flush, serve, err));
    WIO_TRY(wio_net_on_signal(serve->net, SIGTERM, signalled, serve, err));
    return wio_net_on_signal(serve->net, SIGINT, signalled, serve, err);
}

static bool has_catalogue(const struct serve *serve)
{
    return serve->config->job != NULL ? serve->config->job->rank == 0
                                      : serve->layout.role != WIO_SERVE_TARGET;
}

static enum wio_status begin(struct serve *serve, struct wio_error *err)
{
    if (serve->config->job != NULL) {
        WIO_TRY(serve_remains_begin(serve->config->root, &serve->remains, err));
    }
    WIO_TRY(make_link(serve, err));
    WIO_TRY(open_root(serve, err));
    WIO_TRY(join_job(serve, err));
    WIO_TRY(watch_signals(serve, err));
    WIO_TRY(start_targets(serve, err));
    if (has_catalogue(serve)) {
        WIO_TRY(start_catalogue(serve, err));
    }
    return serve->layout.is_new ? serve_layout_finish(wio_net_io(serve->net), &serve->layout, err)
                                : WIO_OK;
}

/* The first failure counts. */
static enum wio_status end(struct serve *serve, enum wio_status status, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    serve_admin_unheld(&serve->admin);
    serve_http_end(serve->http);
    serve_meeting_end(&serve->meeting);
    wio_catalogue_server_destroy(serve->names);
    wio_catalogue_close(serve->catalogue);
    enum wio_status traced = wio_tracer_close(serve->tracer, NULL, &why);
    if (traced != WIO_OK && status == WIO_OK) {
        status = wio_error_pass(err, &why);
    }
    for (unsigned i = 0; i < serve->layout.targets; i++) {
        if (serve->targets[i] != NULL) {
            target_thread_stop(serve->targets[i]);
        }
    }
    for (unsigned i = 0; i < serve->layout.targets; i++) {
        enum wio_status its =
            serve->targets[i] != NULL ? target_thread_wait(serve->targets[i], &why) : WIO_OK;
        if (its != WIO_OK && status == WIO_OK) {
            status = its;
            wio_error_add(&why, "at target %u", i);
            (void)!wio_error_pass(err, &why);
        }
        target_thread_destroy(serve->targets[i]);
    }
    serve_admin_end(&serve->admin);
    if (serve->watch != NULL) {
        wio_net_io(serve->net)->ops->timer_destroy(serve->watch);
    }
    wio_net_destroy(serve->net);
    wio_link_key_forget(&serve->link.key);
    wio_link_key_forget(&serve->layout.servers_key);
    wio_fd_cleanup(&serve->lock);
    wio_fd_cleanup(&serve->remains);
    return status;
}

enum wio_status wio_serve(const struct wio_serve_config *config, struct wio_error *err)
{
    struct serve *serve = calloc(1, sizeof(*serve));
    if (serve == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    serve->config = config;
    serve->lock = -1;
    serve->remains = -1;
    serve->launcher = config->job != NULL ? getppid() : 0;
    enum wio_status status = begin(serve, err);
    if (status == WIO_OK) {
        serve->is_begun = true;
        tell_ready(serve);
        while (!serve->is_ended && !serve->has_failed && !target_has_failed(serve)) {
            wio_net_run(serve->net);
        }
    }
    if (serve->has_failed) {
        status = wio_error_set(err, WIO_ERR_IO, WIO_CATALOGUE_NAME, WIO_ERROR_NO_OFFSET,
                               "the catalogue cannot be read or written any more");
    }
    status = end(serve, status, err);
    free(serve);
    return status;
}
