/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/session/accounts.h"
#include "store/session/grants.h"
#include "store/session/inquirer.h"
#include "store/session/names.h"
#include "store/session/target_watch.h"
#include "store/wire/message.h"

/* One connection to a client. */
struct served {
    struct wio_link *link;
    struct wio_store_peer peer;
    struct wio_names_told told;
    struct wio_shown grants;
    char project[WIO_WIRE_PROJECT_BYTES];
    struct wio_names_user names;
    struct wio_intake_client intake;
    bool is_target; /* it inquires, and has no session */
};

struct wio_target {
    struct wio_io *io;
    struct wio_link_config link;
    struct wio_link_key servers_key;
    bool wants_grants;
    struct wio_link_server *links;
    struct wio_server *server;
    struct wio_inquirer *inquirer;
    struct wio_io_timer *timer;
    uint64_t timer_ns;     /* when it fires; UINT64_MAX: it is not set */
    struct wio_map served; /* client -> struct served: the connection that it has now */
    struct wio_store_names names;
    struct target_watch watch;
    struct wio_intake *intake; /* NULL: whatever comes is served at once */
    struct wio_backing *backing;
    struct wio_blob out; /* of the message that is being sent */
    uint64_t server_id;
};

static uint64_t now_ns(const struct wio_target *target)
{
    return target->io->ops->now_ns(target->io);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* After each event: the server may want to be called earlier than before. */
static void set_timer(struct wio_target *target)
{
    uint64_t due_ns = wio_server_deadline_ns(target->server);
    uint64_t now = now_ns(target);
    if (due_ns < target->timer_ns) {
        target->timer_ns = due_ns;
        target->io->ops->timer_set(target->timer, due_ns > now ? due_ns - now : 0);
    }
}

static void fire(void *context)
{
    struct wio_target *target = context;
    target->timer_ns = UINT64_MAX;
    wio_server_tick(target->server, now_ns(target));
    set_timer(target);
}

/* ---- what the server says ------------------------------------------------------------------ */

static struct served *find(const struct wio_target *target, uint64_t client)
{
    const uint64_t *value = wio_map_get(&target->served, client);
    return value != NULL ? (struct served *)(uintptr_t)*value : NULL;
}

/* Without memory for a message its connection has to end: the client asks again on another one. */
static void send_out(struct wio_target *target, struct served *to, enum wio_status status,
                     const void *data, uint32_t data_bytes)
{
    if (status != WIO_OK) {
        wio_link_reject(to->link);
        return;
    }
    (void)!wio_link_send(to->link, &target->out, data, data_bytes); /* `closed` tells */
}

static void say(struct wio_target *target, struct served *to, struct wio_store_reply *reply)
{
    uint32_t data_bytes = 0;
    for (uint32_t i = 0; i < reply->blockers.listed; i++) {
        wio_names_tell(&target->names, &to->told, &reply->blockers.list[i], to->link);
    }
    wio_blob_clear(&target->out);
    enum wio_status status = wio_wire_put_reply(&target->out, reply, &data_bytes);
    send_out(target, to, status, reply->data, data_bytes);
}

static void say_reply(void *context, uint64_t client, const struct wio_store_reply *reply)
{
    struct wio_target *target = context;
    struct served *to = find(target, client);
    struct wio_store_reply timed = *reply;
    if (to == NULL) {
        return;
    }
    timed.sent_ns = now_ns(target);
    timed.has_told =
        target->intake != NULL &&
        wio_intake_tell(target->intake, &to->intake, reply->number, timed.sent_ns, &timed.told);
    say(target, to, &timed);
}

static void say_push(void *context, uint64_t client, const struct wio_store_push *push)
{
    struct wio_target *target = context;
    struct served *to = find(target, client);
    if (to == NULL) {
        return;
    }
    wio_names_tell(&target->names, &to->told, &push->because, to->link);
    wio_blob_clear(&target->out);
    send_out(target, to, wio_wire_put_push(&target->out, push), NULL, 0);
}

static void inquire(void *context, uint16_t other, const struct wio_txn *txn, bool is_prepared)
{
    const struct wio_target *target = context;
    wio_inquirer_ask(target->inquirer, other, txn, is_prepared);
}

static void answered(void *context, uint16_t other, const struct wio_txn *txn,
                     enum wio_store_outcome outcome)
{
    struct wio_target *target = context;
    wio_server_answered(target->server, other, txn, outcome, now_ns(target));
    set_timer(target);
}

static const struct wio_server_ops server_ops = {say_reply, say_push, inquire};

/* ---- what clients say ---------------------------------------------------------------------- */

static void served_destroy(struct served *served)
{
    wio_names_told_fini(&served->told);
    wio_shown_fini(&served->grants);
    wio_link_close(served->link);
    free(served);
}

static void served_free(struct wio_target *target, struct served *served)
{
    if (target->intake != NULL) {
        wio_intake_leave(target->intake, &served->intake);
    }
    if (find(target, served->peer.client) == served) {
        (void)wio_map_remove(&target->served, served->peer.client);
    }
    served_destroy(served);
}

/* R-LINK-11: of one client the last connection counts. */
static bool admit(void *context, struct wio_link *link, const struct wio_wire_hello *hello,
                  struct wio_wire_welcome *welcome)
{
    struct wio_target *target = context;
    struct served *served = calloc(1, sizeof(*served));
    struct served *before = find(target, hello->client);
    if (served == NULL) {
        return false;
    }
    served->link = link;
    served->is_target = hello->role == WIO_WIRE_ROLE_TARGET;
    (void)snprintf(served->project, sizeof(served->project), "%s", hello->project);
    served->names = (struct wio_names_user){
        .client = hello->client, .uid = hello->uid, .project = served->project};
    served->peer =
        (struct wio_store_peer){.client = hello->client,
                                .job = wio_names_job(&target->names, &served->names, hello),
                                .uid = hello->uid,
                                .gid = hello->gid};
    bool is_new = false;
    /* A number that another user has is not taken over. */
    bool is_other = before != NULL && before->peer.uid != hello->uid;
    if (is_other ||
        (!served->is_target &&
         wio_server_connected(target->server, &served->peer, now_ns(target), &is_new) != WIO_OK)) {
        free(served);
        return false;
    }
    if (before != NULL) {
        served_free(target, before);
    }
    if (wio_map_put(&target->served, hello->client, (uint64_t)(uintptr_t)served) != WIO_OK) {
        free(served);
        return false;
    }
    if (target->watch.tracer != NULL) {
        wio_tracer_client(target->watch.tracer, hello);
    }
    if (target->intake != NULL) {
        wio_intake_join(target->intake, &served->intake, link, served, now_ns(target));
    }
    wio_link_set_user(link, served);
    welcome->job = served->peer.job;
    welcome->server = target->server_id;
    welcome->is_known = !is_new;
    return true;
}

/* Its lease begins anew; and what the server had to say before it could be said is said again. */
static void alive(void *context, struct wio_link *link)
{
    struct wio_target *target = context;
    const struct served *served = wio_link_user(link);
    if (!served->is_target) {
        (void)!wio_server_connected(target->server, &served->peer, now_ns(target), NULL);
    }
    set_timer(target);
}

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    (void)welcome;
    alive(context, link);
}

/* What the server has nothing to do with. */
static void answer(struct wio_target *target, const struct served *served,
                   const struct wio_store_request *request, enum wio_store_result result)
{
    uint64_t now = now_ns(target);
    const struct wio_store_reply reply = {.op = request->op,
                                          .result = (uint16_t)result,
                                          .number = request->number,
                                          .txn = request->txn,
                                          .received_ns = now,
                                          .locked_ns = now,
                                          .done_ns = now};
    say_reply(target, served->peer.client, &reply);
}

/* R-GRANT-2 */
static enum wio_store_result show(const struct wio_target *target, struct served *served,
                                  const struct wio_store_request *request)
{
    struct wio_grant grant;
    if (!target->wants_grants) {
        return WIO_STORE_OK;
    }
    if (!wio_grant_read(&target->servers_key, request->data, request->data_size, &grant) ||
        grant.client != served->peer.client ||
        (grant.uid != served->peer.uid && !served->is_target)) {
        return WIO_STORE_DENIED;
    }
    return wio_shown_add(&served->grants, &grant) == WIO_OK ? WIO_STORE_OK : WIO_STORE_BUSY;
}

/* R-GRANT-4 */
static bool may_inquire(const struct wio_target *target, struct served *served)
{
    return !target->wants_grants || (wio_shown_get(&served->grants, 0) & WIO_GRANT_INQUIRE) != 0;
}

/* R-GRANT-3: the request is the server's to answer. */
static bool may_serve(struct wio_target *target, struct served *served,
                      const struct wio_store_request *request)
{
    if (!target->wants_grants ||
        wio_grant_allows(wio_shown_get(&served->grants, request->file), request)) {
        return true;
    }
    answer(target, served, request, WIO_STORE_DENIED);
    return false;
}

/* A call site, or one with the job that its requests are made for. */
static void define(struct wio_target *target, struct served *served,
                   const struct wio_store_request *request)
{
    wio_names_define(&target->names, &served->names, request);
    if (target->watch.tracer != NULL) {
        wio_tracer_source(target->watch.tracer, served->peer.client, request);
    }
    answer(target, served, request, WIO_STORE_OK);
}

static bool is_definition(const struct wio_store_request *request)
{
    return request->op == WIO_STORE_DEFINE_SOURCE || request->op == WIO_STORE_DEFINE_CALLER;
}

/* Statistics of jobs, which the server has nothing to do with. */
static void serve_own(struct wio_target *target, const struct served *served,
                      const struct wio_store_request *request)
{
    uint64_t now = now_ns(target);
    struct wio_store_reply reply = {.op = request->op,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .received_ns = now,
                                    .locked_ns = now,
                                    .done_ns = now};
    wio_accounts_answer(&target->watch.accounts, &target->names, request, served->peer.uid, now,
                        &reply);
    say_reply(target, served->peer.client, &reply);
}

static void serve(struct wio_target *target, const struct served *served,
                  const struct wio_store_request *request)
{
    wio_server_request(target->server, served->peer.client, request, now_ns(target));
    set_timer(target);
}

/* ---- admission ----------------------------------------------------------------------------- */

static void serve_admitted(void *context, void *user, const struct wio_store_request *request)
{
    if (wio_accounts_is_asked(request)) {
        serve_own(context, user, request);
    } else {
        serve(context, user, request);
    }
}

static void say_busy(void *context, void *user, const struct wio_store_request *request,
                     const struct wio_store_told *told, uint64_t retry_ns)
{
    struct wio_target *target = context;
    struct wio_store_reply reply = wio_intake_busy(request, told, retry_ns, now_ns(target));
    say(target, user, &reply);
}

static void say_window(void *context, void *user, uint16_t window)
{
    struct wio_target *target = context;
    const struct wio_store_push push = {.op = WIO_STORE_WINDOW, .window = window};
    wio_blob_clear(&target->out);
    send_out(target, user, wio_wire_put_push(&target->out, &push), NULL, 0);
}

static uint8_t space_class(void *context)
{
    const struct wio_target *target = context;
    struct wio_backing_space space;
    if (target->backing->ops->space(target->backing, &space, NULL) != WIO_OK) {
        return 0;
    }
    uint64_t used = space.used_bytes < space.total_bytes ? space.used_bytes : space.total_bytes;
    return wio_admit_space_class(space.total_bytes - used, space.total_bytes, 0, 0);
}

static const struct wio_intake_ops intake_ops = {
    .serve = serve_admitted, .refuse = say_busy, .grant = say_window, .space = space_class};

/* What waits or was refused renews the lease, too. */
static void admit_request(struct wio_target *target, struct served *served,
                          const struct wio_store_request *request)
{
    if (target->intake == NULL) {
        serve_admitted(target, served, request);
    } else if (!wio_intake_request(target->intake, &served->intake, request, now_ns(target))) {
        alive(target, served->link);
    }
}

/* R-ADMIT-1 */
static bool is_agreed(const struct served *served, const struct wio_store_request *request)
{
    return (request->flags & WIO_STORE_FLAG_ADMIT) == 0 || served->intake.features != 0;
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    struct wio_target *target = context;
    struct served *served = wio_link_user(link);
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request;
    if (wio_wire_get_request(header, body, participants, &request) != WIO_OK ||
        !is_agreed(served, &request)) {
        wio_link_reject(link);
        return;
    }
    uint32_t job = wio_names_job_of(&target->names, &served->names, request.source);
    request.job = job != 0 ? job : served->peer.job;
    request.transfer_ns = wio_link_transfer_ns(link);
    if (request.op == WIO_STORE_SHOW) {
        answer(target, served, &request, show(target, served, &request));
        alive(target, link);
    } else if (is_definition(&request) && !served->is_target) {
        define(target, served, &request);
        alive(target, link);
    } else if (wio_accounts_is_asked(&request) && !served->is_target) {
        admit_request(target, served, &request);
        alive(target, link);
    } else if (served->is_target != (request.op == WIO_STORE_INQUIRE) ||
               (served->is_target && !may_inquire(target, served))) {
        wio_link_reject(link);
    } else if (may_serve(target, served, &request)) {
        admit_request(target, served, &request);
    } else {
        alive(target, link);
    }
}

/* A client that closes is gone; of one whose network broke the lease decides. */
static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct wio_target *target = context;
    struct served *served = wio_link_user(link);
    uint64_t client = served->peer.client;
    bool is_target = served->is_target;
    served_free(target, served);
    if (!is_target) {
        wio_server_disconnected(target->server, client, why == WIO_LINK_ENDED_BY_PEER,
                                now_ns(target));
        set_timer(target);
    }
}

static const struct wio_link_events link_events = {
    .admit = admit, .opened = opened, .message = message, .closed = closed, .alive = alive};

/* ---- life ---------------------------------------------------------------------------------- */

void wio_target_destroy(struct wio_target *target)
{
    struct wio_map_entry *entry = NULL;
    size_t i = 0;
    if (target == NULL) {
        return;
    }
    wio_server_destroy(target->server);
    while ((entry = wio_map_each(&target->served, &i)) != NULL) {
        struct served *served = (struct served *)(uintptr_t)entry->value;
        if (target->intake != NULL) {
            wio_intake_leave(target->intake, &served->intake);
        }
        served_destroy(served);
    }
    wio_intake_destroy(target->intake);
    wio_map_fini(&target->served);
    wio_inquirer_destroy(target->inquirer);
    wio_link_server_destroy(target->links);
    target->io->ops->timer_destroy(target->timer);
    wio_names_fini(&target->names);
    wio_accounts_fini(&target->watch.accounts);
    wio_blob_fini(&target->out);
    wio_link_key_forget(&target->link.key);
    wio_link_key_forget(&target->servers_key);
    free(target);
}

static void destroy(struct wio_target **target)
{
    wio_target_destroy(*target);
}

static enum wio_status make_parts(struct wio_target *target, const struct wio_target_config *config)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_io *io = target->io;
    WIO_TRY(wio_accounts_init(&target->watch.accounts, io->ops->unix_ns(io) - io->ops->now_ns(io),
                              config->admin));
    struct wio_server_config server = config->server;
    server.lease_ns = config->link.limits.silence_ns;
    server.ops = &server_ops;
    server.context = target;
    server.watch = &target_watch_ops;
    server.watch_context = &target->watch;
    target->timer = target->io->ops->timer_create(target->io, fire, target);
    target->links = wio_link_server_create(target->io, &target->link, &link_events, target);
    if (target->timer == NULL || target->links == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_inquirer_create(
        target->io, &target->link, target->wants_grants ? &target->servers_key : NULL,
        config->addresses, server.targets, answered, target, &target->inquirer));
    return wio_server_create(&heap, &server, &target->server);
}

static uint64_t clock_of(void *context)
{
    return now_ns(context);
}

enum wio_status wio_target_create(struct wio_io *io, const struct wio_target_config *config,
                                  struct wio_target **target_out, struct wio_error *err)
{
    WIO_CLEANUP(destroy) struct wio_target *target = calloc(1, sizeof(*target));
    if (target == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    target->io = io;
    target->link = config->link;
    target->link.features.bits[0] |= WIO_STORE_FEATURE_JOBS | WIO_STORE_FEATURE_LAST;
    target->timer_ns = UINT64_MAX;
    target->watch.io = io;
    target->watch.tracer = config->tracer;
    if (target->watch.tracer != NULL) {
        wio_tracer_clock(target->watch.tracer, clock_of, target);
    }
    if (config->servers_key != NULL) {
        WIO_TRY(wio_link_keys_begin(err));
        target->servers_key = *config->servers_key;
        target->wants_grants = true;
        target->link.features.bits[WIO_GRANT_CLASS] |= WIO_GRANT_FEATURE;
    }
    if (config->admission != NULL) {
        WIO_TRY(
            wio_intake_create(io, config->admission, &intake_ops, target, &target->intake, err));
        wio_intake_offer(&target->link.features);
    }
    target->backing = config->server.backing;
    io->ops->random(io, &target->server_id, sizeof(target->server_id));
    enum wio_status status = make_parts(target, config);
    if (status != WIO_OK) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "cannot make the server: %s",
                             wio_status_text(status));
    }
    *target_out = target;
    target = NULL;
    return WIO_OK;
}

enum wio_status wio_target_listen(struct wio_target *target, const char *address,
                                  const char **address_out, struct wio_error *err)
{
    set_timer(target);
    return wio_link_server_listen(target->links, address, address_out, err);
}

void wio_target_durable(struct wio_target *target, uint64_t lsn, bool is_ok)
{
    wio_server_durable(target->server, lsn, is_ok, now_ns(target));
    set_timer(target);
}

void wio_target_unlogged(struct wio_target *target, uint64_t lsn, enum wio_store_result result)
{
    wio_server_unlogged(target->server, lsn, result, now_ns(target));
    set_timer(target);
}

void wio_target_set_addresses(struct wio_target *target, const char *const *addresses)
{
    wio_inquirer_set_addresses(target->inquirer, addresses);
}

struct wio_server *wio_target_server(struct wio_target *target)
{
    return target->server;
}

struct wio_intake *wio_target_intake(struct wio_target *target)
{
    return target->intake;
}
