/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/catalogue_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/session/accounts.h"
#include "store/session/catalogue_desk.h"
#include "store/wire/message.h"

enum {
    KEPT_LEASES = 5, /* so long clients without a connection are known */
    CLIENTS_MAX = 1 << 16
};

/* The answer to a change. */
struct kept_answer {
    uint64_t number; /* 0: none */
    uint16_t result;
    uint32_t data_size;
    struct wio_store_stat stat;
    uint8_t data[WIO_GRANT_BYTES];
};

struct catalogue_client {
    struct wio_link *link; /* NULL: it has no connection now */
    uint64_t client;
    uint64_t gone_ns;
    uint32_t uid;
    uint32_t gid;
    uint32_t job; /* its own */
    char project[WIO_WIRE_PROJECT_BYTES];
    struct wio_names_user names;
    struct wio_intake_client intake;
    struct kept_answer *kept; /* WIO_CATALOGUE_WINDOW of them; NULL: it has changed nothing yet */
};

struct wio_catalogue_server {
    struct wio_io *io;
    struct wio_catalogue_server_config config;
    struct wio_link_server *links;
    struct catalogue_desk desk;
    struct wio_store_names names; /* of jobs */
    struct wio_accounts accounts;
    struct wio_map clients;    /* client -> struct catalogue_client */
    struct wio_intake *intake; /* NULL: whatever comes is served at once */
    struct wio_io_timer *timer;
    struct wio_blob out;
    uint64_t server_id;
    bool has_failed;
};

static uint64_t now_ns(const struct wio_catalogue_server *server)
{
    return server->io->ops->now_ns(server->io);
}

static struct catalogue_client *find(const struct wio_catalogue_server *server, uint64_t id)
{
    const uint64_t *value = wio_map_get(&server->clients, id);
    return value != NULL ? (struct catalogue_client *)(uintptr_t)*value : NULL;
}

static void client_destroy(struct catalogue_client *client)
{
    wio_link_close(client->link);
    free(client->kept);
    free(client);
}

/* ---- clients that are gone ----------------------------------------------------------------- */

static uint64_t lease_ns(const struct wio_catalogue_server *server)
{
    return server->config.link.limits.silence_ns;
}

static void forget_old(void *context)
{
    struct wio_catalogue_server *server = context;
    uint64_t now = now_ns(server);
    struct wio_map_entry *entry = NULL;
    size_t i = 0;
    while ((entry = wio_map_each(&server->clients, &i)) != NULL) {
        struct catalogue_client *client = (struct catalogue_client *)(uintptr_t)entry->value;
        if (client->link == NULL && client->gone_ns + KEPT_LEASES * lease_ns(server) <= now) {
            (void)wio_map_remove(&server->clients, client->client);
            client_destroy(client);
        }
    }
    server->io->ops->timer_set(server->timer, lease_ns(server));
}

/* ---- answers ------------------------------------------------------------------------------- */

static void put_out(struct wio_catalogue_server *server, struct wio_link *link,
                    enum wio_status status, const void *data, uint32_t data_bytes)
{
    if (status == WIO_OK) {
        (void)!wio_link_send(link, &server->out, data, data_bytes); /* `closed` tells */
    } else {
        wio_link_reject(link);
    }
}

static void put_reply(struct wio_catalogue_server *server, struct wio_link *link,
                      const struct wio_store_reply *reply)
{
    uint32_t data_bytes = 0;
    wio_blob_clear(&server->out);
    enum wio_status status = wio_wire_put_reply(&server->out, reply, &data_bytes);
    put_out(server, link, status, reply->data, data_bytes);
}

/* The answer to a request that admission has let in. */
static void say(struct wio_catalogue_server *server, struct catalogue_client *client,
                struct wio_store_reply *reply)
{
    reply->sent_ns = now_ns(server);
    reply->has_told =
        server->intake != NULL && wio_intake_tell(server->intake, &client->intake, reply->number,
                                                  reply->sent_ns, &reply->told);
    put_reply(server, client->link, reply);
}

static void keep(struct catalogue_client *client, const struct wio_store_reply *reply)
{
    struct kept_answer *kept = &client->kept[reply->number % WIO_CATALOGUE_WINDOW];
    *kept = (struct kept_answer){.number = reply->number,
                                 .result = reply->result,
                                 .data_size = reply->data_size,
                                 .stat = reply->stat};
    if (reply->data_size > 0) {
        memcpy(kept->data, reply->data, reply->data_size);
    }
}

/* The answer that a change has had. False: it is new. */
static bool find_kept(const struct catalogue_client *client, struct wio_store_reply *reply)
{
    const struct kept_answer *kept =
        client->kept != NULL ? &client->kept[reply->number % WIO_CATALOGUE_WINDOW] : NULL;
    if (kept == NULL || reply->number == 0 || kept->number != reply->number) {
        return false;
    }
    reply->result = kept->result;
    reply->stat = kept->stat;
    reply->data = kept->data;
    reply->data_size = kept->data_size;
    return true;
}

static bool has_room(struct catalogue_client *client)
{
    if (client->kept == NULL) {
        client->kept = calloc(WIO_CATALOGUE_WINDOW, sizeof(*client->kept));
    }
    return client->kept != NULL;
}

static void perform(struct wio_catalogue_server *server, struct catalogue_client *client,
                    const struct wio_store_request *request, struct wio_store_reply *reply)
{
    const struct wio_catalogue_user user = {.uid = client->uid,
                                            .gid = client->gid,
                                            .now_ns =
                                                (int64_t)server->io->ops->unix_ns(server->io)};
    int result = catalogue_desk_answer(&server->desk, &user, client->client, request, reply);
    if (result == 0 && request->op == WIO_STORE_OPEN && server->config.tracer != NULL) {
        wio_tracer_file(server->config.tracer, &reply->stat, request->path, request->path_size,
                        now_ns(server));
    }
    if (result == EIO && !server->has_failed) {
        server->has_failed = true;
        server->config.failed(server->config.context);
    }
}

static void answer(struct wio_catalogue_server *server, struct catalogue_client *client,
                   const struct wio_store_request *request)
{
    bool changes = catalogue_desk_changes(request);
    uint64_t now = now_ns(server);
    struct wio_store_reply reply = {.op = request->op,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .received_ns = now,
                                    .locked_ns = now};
    if (changes && !has_room(client)) {
        reply.result = WIO_STORE_BUSY;
    } else if (!changes || !find_kept(client, &reply)) {
        perform(server, client, request, &reply);
        reply.done_ns = now_ns(server);
        wio_accounts_count(&server->accounts, request, &reply, reply.done_ns);
        if (changes && reply.result != WIO_STORE_BUSY) {
            keep(client, &reply);
        }
    }
    reply.done_ns = now_ns(server);
    say(server, client, &reply);
}

/* Of jobs: which one requests are made for, and what is known of them. */
static void answer_of_jobs(struct wio_catalogue_server *server, struct catalogue_client *client,
                           const struct wio_store_request *request)
{
    uint64_t now = now_ns(server);
    struct wio_store_reply reply = {.op = request->op,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .received_ns = now,
                                    .locked_ns = now,
                                    .done_ns = now};
    if (request->op == WIO_STORE_DEFINE_CALLER) {
        wio_names_define(&server->names, &client->names, request);
    } else {
        wio_accounts_answer(&server->accounts, &server->names, request, client->uid, now, &reply);
    }
    say(server, client, &reply);
}

/* R-ADMIT-5: a change that was made has its answer again, whatever the load. */
static bool answer_again(struct wio_catalogue_server *server, struct catalogue_client *client,
                         const struct wio_store_request *request)
{
    uint64_t now = now_ns(server);
    struct wio_store_reply reply = {.op = request->op,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .received_ns = now,
                                    .locked_ns = now,
                                    .done_ns = now};
    if (!catalogue_desk_changes(request) || !find_kept(client, &reply)) {
        return false;
    }
    say(server, client, &reply);
    return true;
}

/* ---- admission ----------------------------------------------------------------------------- */

static void serve(void *context, void *user, const struct wio_store_request *request)
{
    if (request->op == WIO_STORE_DEFINE_CALLER || wio_accounts_is_asked(request)) {
        answer_of_jobs(context, user, request);
    } else {
        answer(context, user, request);
    }
}

static void say_busy(void *context, void *user, const struct wio_store_request *request,
                     const struct wio_store_told *told, uint64_t retry_ns)
{
    struct wio_catalogue_server *server = context;
    const struct catalogue_client *client = user;
    struct wio_store_reply reply = wio_intake_busy(request, told, retry_ns, now_ns(server));
    put_reply(server, client->link, &reply);
}

static void say_window(void *context, void *user, uint16_t window)
{
    struct wio_catalogue_server *server = context;
    const struct catalogue_client *client = user;
    const struct wio_store_push push = {.op = WIO_STORE_WINDOW, .window = window};
    wio_blob_clear(&server->out);
    put_out(server, client->link, wio_wire_put_push(&server->out, &push), NULL, 0);
}

/* Names take hardly any space: it does not change how fast they are. */
static const struct wio_intake_ops intake_ops = {
    .serve = serve, .refuse = say_busy, .grant = say_window};

static void leave(struct wio_catalogue_server *server, struct catalogue_client *client)
{
    if (server->intake != NULL) {
        wio_intake_leave(server->intake, &client->intake);
    }
}

/* ---- connections --------------------------------------------------------------------------- */

static struct catalogue_client *make_client(struct wio_catalogue_server *server, uint64_t id)
{
    struct catalogue_client *client = calloc(1, sizeof(*client));
    if (client != NULL &&
        wio_map_put(&server->clients, id, (uint64_t)(uintptr_t)client) != WIO_OK) {
        free(client);
        return NULL;
    }
    if (client != NULL) {
        client->client = id;
    }
    return client;
}

/* R-LINK-11: of one client the last connection counts, and no other user takes its place. */
static bool admit(void *context, struct wio_link *link, const struct wio_wire_hello *hello,
                  struct wio_wire_welcome *welcome)
{
    struct wio_catalogue_server *server = context;
    struct catalogue_client *client = find(server, hello->client);
    bool is_known = client != NULL;
    if (hello->role != WIO_WIRE_ROLE_CLIENT || (is_known && client->uid != hello->uid)) {
        return false;
    }
    if (!is_known && (server->clients.hash.count >= CLIENTS_MAX ||
                      (client = make_client(server, hello->client)) == NULL)) {
        return false;
    }
    leave(server, client);
    wio_link_close(client->link);
    client->link = link;
    client->uid = hello->uid;
    client->gid = hello->gid;
    (void)snprintf(client->project, sizeof(client->project), "%s", hello->project);
    client->names = (struct wio_names_user){
        .client = hello->client, .uid = hello->uid, .project = client->project};
    client->job = wio_names_job(&server->names, &client->names, hello);
    if (server->intake != NULL) {
        client->intake = (struct wio_intake_client){0};
        wio_intake_join(server->intake, &client->intake, link, client, now_ns(server));
    }
    welcome->job = client->job;
    wio_link_set_user(link, client);
    welcome->server = server->server_id;
    welcome->is_known = is_known;
    return true;
}

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    (void)context;
    (void)link;
    (void)welcome;
}

/* R-ADMIT-1 */
static bool is_agreed(const struct catalogue_client *client,
                      const struct wio_store_request *request)
{
    return (request->flags & WIO_STORE_FLAG_ADMIT) == 0 || client->intake.features != 0;
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    struct wio_catalogue_server *server = context;
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request;
    struct catalogue_client *client = wio_link_user(link);
    if (wio_wire_get_request(header, body, participants, &request) != WIO_OK ||
        !is_agreed(client, &request)) {
        wio_link_reject(link);
        return;
    }
    uint32_t job = wio_names_job_of(&server->names, &client->names, request.source);
    request.job = job != 0 ? job : client->job;
    if (server->intake == NULL) {
        serve(server, client, &request);
    } else if (!answer_again(server, client, &request)) {
        (void)wio_intake_request(server->intake, &client->intake, &request, now_ns(server));
    }
}

static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct wio_catalogue_server *server = context;
    struct catalogue_client *client = wio_link_user(link);
    (void)why;
    leave(server, client);
    client->link = NULL;
    client->gone_ns = now_ns(server);
    wio_link_close(link);
}

static const struct wio_link_events link_events = {
    .admit = admit, .opened = opened, .message = message, .closed = closed};

/* ---- life ---------------------------------------------------------------------------------- */

void wio_catalogue_server_destroy(struct wio_catalogue_server *server)
{
    struct wio_map_entry *entry = NULL;
    size_t i = 0;
    if (server == NULL) {
        return;
    }
    while ((entry = wio_map_each(&server->clients, &i)) != NULL) {
        struct catalogue_client *client = (struct catalogue_client *)(uintptr_t)entry->value;
        leave(server, client);
        client_destroy(client);
    }
    wio_intake_destroy(server->intake);
    wio_map_fini(&server->clients);
    wio_link_server_destroy(server->links);
    server->io->ops->timer_destroy(server->timer);
    catalogue_desk_fini(&server->desk);
    wio_names_fini(&server->names);
    wio_accounts_fini(&server->accounts);
    wio_blob_fini(&server->out);
    wio_link_key_forget(&server->config.link.key);
    free(server);
}

static void destroy(struct wio_catalogue_server **server)
{
    wio_catalogue_server_destroy(*server);
}

static enum wio_status make_parts(struct wio_catalogue_server *server)
{
    const struct wio_catalogue_server_config *config = &server->config;
    server->timer = server->io->ops->timer_create(server->io, forget_old, server);
    server->links = wio_link_server_create(server->io, &server->config.link, &link_events, server);
    if (server->timer == NULL || server->links == NULL) {
        return WIO_ERR_NOMEM;
    }
    server->io->ops->timer_set(server->timer, lease_ns(server));
    WIO_TRY(wio_accounts_init(
        &server->accounts, server->io->ops->unix_ns(server->io) - now_ns(server), config->admin));
    return catalogue_desk_init(&server->desk, config->catalogue, config->servers_key,
                               config->targets, config->target_count);
}

enum wio_status wio_catalogue_server_create(struct wio_io *io,
                                            const struct wio_catalogue_server_config *config,
                                            struct wio_catalogue_server **server_out,
                                            struct wio_error *err)
{
    WIO_TRY(wio_link_keys_begin(err));
    WIO_CLEANUP(destroy) struct wio_catalogue_server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    server->io = io;
    server->config = *config;
    server->config.link.features.bits[0] |= WIO_STORE_FEATURE_JOBS;
    if (config->admission != NULL) {
        WIO_TRY(
            wio_intake_create(io, config->admission, &intake_ops, server, &server->intake, err));
        wio_intake_offer(&server->config.link.features);
    }
    io->ops->random(io, &server->server_id, sizeof(server->server_id));
    enum wio_status status = make_parts(server);
    if (status != WIO_OK) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot make the catalogue's server: %s", wio_status_text(status));
    }
    *server_out = server;
    server = NULL;
    return WIO_OK;
}

struct wio_intake *wio_catalogue_server_intake(struct wio_catalogue_server *server)
{
    return server->intake;
}

enum wio_status wio_catalogue_server_listen(struct wio_catalogue_server *server,
                                            const char *address, const char **address_out,
                                            struct wio_error *err)
{
    return wio_link_server_listen(server->links, address, address_out, err);
}
