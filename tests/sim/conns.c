/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections. Each direction is a queue of bytes that were sent and not yet taken: in order, in
 * pieces that chance cuts, each with an arrival time not before the last one's. What is on its way
 * or waits to be taken fills the window; beyond it bytes are unsent.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "sim/sim_internal.h"

struct wio_io_listener {
    struct sim_kept kept;
    struct sim_process *process;
    struct wio_io_listener *next;
    wio_io_accepted *accepted;
    void *context;
    char address[SIM_NAME];
    bool is_closed;
};

struct wio_io_conn {
    struct sim_kept kept;
    struct sim_process *process;
    struct wio_io_conn *next; /* of the process */
    struct wio_io_conn *peer; /* NULL: not yet, or none any more */
    const struct wio_io_handler *handler;
    void *context;
    char address[SIM_NAME]; /* to be connected to */
    struct wio_blob unsent;
    size_t unsent_at; /* of it, taken already */
    size_t under_way; /* bytes that this side sent, on their way or in the other one's inbox */
    struct wio_blob inbox;
    size_t inbox_at;
    uint64_t last_ns; /* when the last piece to the other side arrives */
    bool is_caller;
    bool is_closed; /* by its owner: no callbacks */
    bool is_over;   /* `closed` was called, or is not to be */
    bool is_paused;
    bool has_ended; /* the other side sends no more: `closed` when the inbox is empty */
    enum wio_status why;
};

/* Bytes on their way. */
struct piece {
    struct sim_kept kept;
    struct wio_io_conn *to;
    size_t size;
    uint8_t bytes[];
};

static struct wio_sim *sim_of(const struct wio_io_conn *conn)
{
    return conn->process->node->sim;
}

static bool is_live(const struct wio_io_conn *conn)
{
    return conn != NULL && !conn->is_closed && !conn->is_over && !conn->process->is_dead;
}

static bool is_parted(const struct wio_io_conn *conn)
{
    return conn->peer != NULL &&
           sim_is_parted(sim_of(conn), conn->process->node, conn->peer->process->node);
}

static uint64_t delay(struct wio_sim *sim)
{
    uint64_t base_ns = sim->options.delay_ns;
    uint64_t late = wio_sim_chance(sim, sim->options.late) ? 1 + sim_below(sim, 1000) : 1;
    return (base_ns + sim_below(sim, base_ns)) * late;
}

/* Not before what was sent before it. */
static uint64_t arrival(struct wio_io_conn *from)
{
    struct wio_sim *sim = sim_of(from);
    uint64_t at_ns = sim_process_now_ns(from->process) + delay(sim);
    from->last_ns = at_ns > from->last_ns ? at_ns : from->last_ns;
    return from->last_ns - sim->now_ns;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void tell_closed(struct wio_io_conn *conn, enum wio_status why)
{
    if (is_live(conn) && conn->handler != NULL) {
        conn->is_over = true;
        conn->handler->closed(conn->context, why);
    }
}

static void ended(void *context)
{
    struct wio_io_conn *conn = context;
    conn->has_ended = true;
    if (conn->inbox_at == conn->inbox.size && !conn->is_paused && !is_parted(conn)) {
        tell_closed(conn, conn->why);
    }
}

/* The other side hears that this one sends no more, behind all that it sent. */
static void send_end(struct wio_io_conn *conn, enum wio_status why)
{
    if (is_live(conn->peer)) {
        conn->peer->why = why;
        sim_at(sim_of(conn), arrival(conn), "end", ended, conn->peer);
    }
}

static void failed(void *context)
{
    tell_closed(context, WIO_ERR_IO);
}

static void break_both(struct wio_io_conn *conn)
{
    struct wio_io_conn *peer = conn->peer;
    sim_of(conn)->counts.resets++;
    tell_closed(conn, WIO_ERR_IO);
    if (peer != NULL) {
        tell_closed(peer, WIO_ERR_IO);
    }
}

/* ---- bytes --------------------------------------------------------------------------------- */

static void pump(struct wio_io_conn *conn);

/* As much as the owner has room for, in portions as it gives room. */
static void deliver(struct wio_io_conn *conn)
{
    while (is_live(conn) && conn->handler != NULL && !conn->is_paused && !is_parted(conn) &&
           conn->inbox_at < conn->inbox.size) {
        size_t room = 0;
        size_t left = conn->inbox.size - conn->inbox_at;
        void *to = conn->handler->room(conn->context, &room);
        if (to == NULL) {
            tell_closed(conn, WIO_ERR_IO);
            return;
        }
        size_t size = left < room ? left : room;
        memcpy(to, conn->inbox.data + conn->inbox_at, size);
        conn->inbox_at += size;
        if (conn->peer != NULL) {
            conn->peer->under_way -= size;
        }
        conn->handler->came(conn->context, size);
    }
    if (conn->inbox_at == conn->inbox.size) {
        wio_blob_clear(&conn->inbox);
        conn->inbox_at = 0;
        if (conn->has_ended && !conn->is_paused && !is_parted(conn)) {
            tell_closed(conn, conn->why);
        }
    }
}

static void tell_drained(struct wio_io_conn *conn, bool had_unsent)
{
    if (is_live(conn) && had_unsent && conn->unsent.size == 0 && conn->handler != NULL) {
        conn->handler->drained(conn->context);
    }
}

/* From the loop: the other side may now send what it kept. */
static void deliver_and_pump(struct wio_io_conn *conn)
{
    struct wio_io_conn *peer = conn->peer;
    deliver(conn);
    if (is_live(peer)) {
        bool had_unsent = peer->unsent.size > 0;
        pump(peer);
        tell_drained(peer, had_unsent);
    }
}

static void arrived(void *context)
{
    struct piece *piece = context;
    struct wio_io_conn *to = piece->to;
    struct wio_sim *sim = sim_of(to);
    sim->counts.pieces++;
    sim->counts.parted += is_parted(to);
    bool is_reset = wio_sim_chance(sim, sim->options.reset);
    if (is_live(to) && wio_blob_put(&to->inbox, piece->bytes, piece->size) != WIO_OK) {
        sim_out_of_memory();
    }
    sim_drop(sim, &piece->kept);
    if (is_reset) {
        break_both(to);
    } else if (is_live(to)) {
        deliver_and_pump(to);
    }
}

/* When it is there and the loop of the other side looks. */
static void sim_arrive(struct wio_io_conn *from, struct piece *piece)
{
    struct wio_sim *sim = sim_of(from);
    uint64_t at_ns = sim->now_ns + arrival(from);
    uint64_t there_ns = sim_process_now_ns(piece->to->process);
    sim_at_process(piece->to->process, at_ns > there_ns ? at_ns - there_ns : 0, "piece", arrived,
                   piece);
}

static void send_piece(struct wio_io_conn *conn, size_t size)
{
    struct wio_sim *sim = sim_of(conn);
    struct piece *piece = sim_keep(sim, sizeof(struct piece) + size, offsetof(struct piece, kept));
    piece->to = conn->peer;
    piece->size = size;
    memcpy(piece->bytes, conn->unsent.data + conn->unsent_at, size);
    if (sim->middle != NULL) {
        sim->middle(sim->middle_context, conn->is_caller, piece->bytes, size);
    }
    conn->unsent_at += size;
    conn->under_way += size;
    sim_arrive(conn, piece);
}

static void pump(struct wio_io_conn *conn)
{
    struct wio_sim *sim = sim_of(conn);
    while (conn->peer != NULL && conn->unsent_at < conn->unsent.size &&
           conn->under_way < sim->options.window_bytes) {
        size_t left = conn->unsent.size - conn->unsent_at;
        size_t window = sim->options.window_bytes - conn->under_way;
        size_t most = left < window ? left : window;
        send_piece(conn, sim_below(sim, 4) == 0 ? 1 + sim_below(sim, most) : most);
    }
    if (conn->unsent_at == conn->unsent.size) {
        wio_blob_clear(&conn->unsent);
        conn->unsent_at = 0;
    }
}

static enum wio_status conn_send(struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                                 size_t count)
{
    if (conn->process->is_dead) {
        return WIO_ERR_IO;
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > 0 &&
            wio_blob_put(&conn->unsent, parts[i].data, parts[i].size) != WIO_OK) {
            sim_out_of_memory();
        }
    }
    pump(conn);
    return WIO_OK;
}

static size_t conn_unsent(struct wio_io_conn *conn)
{
    return conn->unsent.size - conn->unsent_at;
}

static void go_on(void *context)
{
    struct wio_io_conn *conn = context;
    if (is_live(conn)) {
        deliver_and_pump(conn);
    }
}

static void conn_pause(struct wio_io_conn *conn, bool is_paused)
{
    conn->is_paused = is_paused;
    if (!is_paused) {
        sim_at_process(conn->process, 0, "resume", go_on, conn);
    }
}

static void conn_close(struct wio_io_conn *conn)
{
    if (conn == NULL || conn->is_closed) {
        return;
    }
    conn->is_closed = true;
    if (!conn->process->is_dead) {
        send_end(conn, WIO_END);
    }
    wio_blob_fini(&conn->unsent);
    wio_blob_fini(&conn->inbox);
    conn->unsent_at = 0;
    conn->inbox_at = 0;
}

/* ---- made ---------------------------------------------------------------------------------- */

static struct wio_io_conn *make(struct sim_process *process)
{
    struct wio_io_conn *conn = SIM_KEEP(process->node->sim, struct wio_io_conn);
    conn->process = process;
    conn->next = process->conns;
    process->conns = conn;
    return conn;
}

static struct wio_io_listener *find(struct wio_sim *sim, const char *address)
{
    for (struct wio_sim_node *node = sim->nodes; node != NULL; node = node->next) {
        for (struct sim_process *it = node->processes; it != NULL; it = it->next) {
            for (struct wio_io_listener *at = it->listeners; at != NULL; at = at->next) {
                if (!it->is_dead && !at->is_closed && strcmp(at->address, address) == 0) {
                    return at;
                }
            }
        }
    }
    return NULL;
}

static void opened(void *context)
{
    struct wio_io_conn *conn = context;
    if (is_live(conn)) {
        conn->handler->opened(conn->context);
        deliver_and_pump(conn);
    }
}

static void reaches(void *context)
{
    struct wio_io_conn *conn = context;
    struct wio_sim *sim = sim_of(conn);
    struct wio_io_listener *listener = find(sim, conn->address);
    if (!is_live(conn)) {
        return;
    }
    if (listener == NULL) {
        tell_closed(conn, WIO_ERR_IO);
        return;
    }
    if (sim_is_parted(sim, conn->process->node, listener->process->node)) {
        return; /* no answer at all */
    }
    struct wio_io_conn *other = make(listener->process);
    const struct wio_sim_node *node = conn->process->node;
    const struct wio_io_peer peer = {.is_local = node == listener->process->node,
                                     .has_uid = node->has_user,
                                     .uid = node->uid,
                                     .gid = node->gid};
    conn->peer = other;
    other->peer = conn;
    sim_at(sim, arrival(other), "opened", opened, conn);
    listener->accepted(listener->context, other, &peer);
}

static enum wio_status connect_to(struct wio_io *io, const char *address,
                                  const struct wio_io_handler *handler, void *context,
                                  struct wio_io_conn **conn_out, struct wio_error *err)
{
    (void)err;
    struct wio_io_conn *conn = make(sim_process_of(io));
    conn->handler = handler;
    conn->context = context;
    conn->is_caller = true;
    snprintf(conn->address, sizeof(conn->address), "%s", address);
    sim_at(sim_of(conn), delay(sim_of(conn)), "connect", reaches, conn);
    *conn_out = conn;
    return WIO_OK;
}

static void conn_attach(struct wio_io_conn *conn, const struct wio_io_handler *handler,
                        void *context)
{
    conn->handler = handler;
    conn->context = context;
    sim_at(sim_of(conn), 0, "resume", go_on, conn);
}

static enum wio_status listen_at(struct wio_io *io, const char *address, wio_io_accepted *accepted,
                                 void *context, struct wio_io_listener **listener_out,
                                 struct wio_error *err)
{
    struct sim_process *process = sim_process_of(io);
    if (find(process->node->sim, address) != NULL) {
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot listen at '%s': it is in use", address);
    }
    struct wio_io_listener *listener = SIM_KEEP(process->node->sim, struct wio_io_listener);
    listener->process = process;
    listener->accepted = accepted;
    listener->context = context;
    listener->next = process->listeners;
    process->listeners = listener;
    snprintf(listener->address, sizeof(listener->address), "%s", address);
    *listener_out = listener;
    return WIO_OK;
}

static const char *listener_address(struct wio_io_listener *listener)
{
    return listener->address;
}

static void listener_close(struct wio_io_listener *listener)
{
    if (listener != NULL) {
        listener->is_closed = true;
    }
}

/* ---- of all of a process ------------------------------------------------------------------- */

void sim_conns_break(struct sim_process *process, bool silently)
{
    struct wio_sim *sim = process->node->sim;
    for (struct wio_io_conn *conn = process->conns; conn != NULL; conn = conn->next) {
        bool is_heard = !silently || sim_below(sim, 2) == 0;
        if (is_live(conn->peer) && !conn->is_closed && is_heard) {
            sim_at(sim, delay(sim), "reset", failed, conn->peer);
        }
        wio_blob_fini(&conn->unsent);
        conn->unsent_at = 0;
    }
}

void sim_conns_healed(struct sim_process *process)
{
    for (struct wio_io_conn *conn = process->conns; conn != NULL; conn = conn->next) {
        if (is_live(conn) && (conn->inbox.size > 0 || conn->has_ended)) {
            sim_at(sim_of(conn), delay(sim_of(conn)), "healed", go_on, conn);
        }
    }
}

void sim_conns_free(struct sim_process *process)
{
    for (struct wio_io_conn *conn = process->conns; conn != NULL; conn = conn->next) {
        wio_blob_fini(&conn->unsent);
        wio_blob_fini(&conn->inbox);
    }
}

void sim_conn_ops(struct wio_io_ops *ops)
{
    ops->listen = listen_at;
    ops->listener_address = listener_address;
    ops->listener_close = listener_close;
    ops->connect = connect_to;
    ops->conn_attach = conn_attach;
    ops->conn_send = conn_send;
    ops->conn_unsent = conn_unsent;
    ops->conn_pause = conn_pause;
    ops->conn_close = conn_close;
}
