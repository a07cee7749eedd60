/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in and out of a link, and its limits: of both sides, before and behind the proof. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/link/link_internal.h"

#define SECOND_NS UINT64_C(1000000000)
#define PARTS 3

const struct wio_link_limits wio_link_limits_default = {
    .body_max = WIO_STORE_DATA_MAX + (64u << 10),
    .read_ahead = 96u << 10,
    .unsent_pause = 1u << 20,
    .unsent_max = 64u << 20,
    .handshake_ns = 5 * SECOND_NS,
    .silence_ns = 2 * SECOND_NS,
    .frame_ns = 30 * SECOND_NS,
    .strangers_max = 256,
    .links_max = 16384,
};

const char *wio_link_end_text(enum wio_link_end end)
{
    static const char *const texts[WIO_LINK_ENDS] = {
        [WIO_LINK_ENDED_BY_PEER] = "closed by the other side",
        [WIO_LINK_ENDED_BY_US] = "closed",
        [WIO_LINK_BROKEN] = "the connection failed",
        [WIO_LINK_STRANGE] = "bytes that are none of the store's protocol",
        [WIO_LINK_OTHER_VERSION] = "another version of the store's protocol",
        [WIO_LINK_UNPROVEN] = "another key, or bytes that were changed on the way",
        [WIO_LINK_OTHER_AUTH] = "the other side wants another kind of authentication",
        [WIO_LINK_LATE] = "did not prove itself in time",
        [WIO_LINK_CROWDED_OUT] = "too many connections had not proven themselves",
        [WIO_LINK_SILENT] = "silent for longer than a lease",
        [WIO_LINK_SLOW] = "a message was begun and did not end",
        [WIO_LINK_UNREAD] = "does not read what was sent",
        [WIO_LINK_NOT_ADMITTED] = "not admitted",
    };
    return end < WIO_LINK_ENDS ? texts[end] : "ended";
}

/* ---- life ---------------------------------------------------------------------------------- */

static void free_link(struct wio_link *link)
{
    link->io->ops->timer_destroy(link->timer);
    link->io->ops->timer_destroy(link->rate_timer);
    wio_link_stream_fini(&link->stream);
    wio_link_key_forget(&link->out.key);
    wio_link_key_forget(&link->in.key);
    wio_link_key_forget(&link->proving.secrets[0]);
    wio_link_key_forget(&link->proving.secrets[1]);
    free(link);
}

void wio_link_release(struct wio_link *link)
{
    link->is_released = true;
    if (link->busy == 0) {
        free_link(link);
    }
}

void wio_link_leave(struct wio_link *link)
{
    link->busy--;
    if (link->busy == 0 && link->is_released) {
        free_link(link);
    }
}

static void disconnect(struct wio_link *link)
{
    link->is_ended = true;
    link->is_open = false;
    link->io->ops->conn_close(link->conn);
    link->conn = NULL;
    link->io->ops->timer_stop(link->timer);
    if (link->work_link != NULL) {
        *link->work_link = NULL;
        link->work_link = NULL;
    }
    if (link->rate_timer != NULL) {
        link->io->ops->timer_stop(link->rate_timer);
    }
}

void wio_link_finish(struct wio_link *link, enum wio_link_end why)
{
    if (link->is_ended) {
        return;
    }
    link->busy++;
    disconnect(link);
    link->ended(link, why);
    wio_link_leave(link);
}

void wio_link_pause(struct wio_link *link, unsigned why, bool is_paused)
{
    unsigned before = link->paused;
    link->paused = is_paused ? before | why : before & ~why;
    if (!link->is_ended && (before != 0) != (link->paused != 0)) {
        link->io->ops->conn_pause(link->conn, link->paused != 0);
    }
}

/* Nothing may call the owner back from within what the owner called: the timer does. */
static void finish_soon(struct wio_link *link, enum wio_link_end why)
{
    if (link->ends_as == WIO_LINK_ENDS) {
        link->ends_as = why;
        link->io->ops->timer_set(link->timer, 0);
    }
}

/* ---- out ----------------------------------------------------------------------------------- */

/* R-LINK-9: a client that does not read is asked nothing further, and ends. A client always reads:
 * were both to wait for the other one to read, neither would. */
static void watch_unsent(struct wio_link *link)
{
    size_t unsent = link->io->ops->conn_unsent(link->conn);
    if (link->left == NULL) {
        return; /* a client's side */
    }
    if (unsent > link->config->limits.unsent_max) {
        finish_soon(link, WIO_LINK_UNREAD);
    } else if (unsent > link->config->limits.unsent_pause) {
        wio_link_pause(link, WIO_LINK_PAUSED_UNSENT, true);
    }
}

enum wio_status wio_link_put(struct wio_link *link, const struct wio_blob *head, const void *data,
                             uint32_t data_bytes)
{
    uint8_t tag[WIO_LINK_TAG_BYTES];
    struct wio_io_bytes parts[PARTS] = {{head->data, head->size}, {data, data_bytes}};
    size_t count = data_bytes > 0 ? 2 : 1;
    if (link->out.has_key) {
        wio_link_tag(&link->out.key, link->out.number++, parts, count, tag);
        parts[count++] = (struct wio_io_bytes){tag, sizeof(tag)};
    }
    link->sent_ns = link->io->ops->now_ns(link->io);
    WIO_TRY(link->io->ops->conn_send(link->conn, parts, count));
    watch_unsent(link);
    return WIO_OK;
}

/* ---- in ------------------------------------------------------------------------------------ */

static size_t tag_bytes(const struct wio_link *link)
{
    return link->in.has_key ? WIO_LINK_TAG_BYTES : 0;
}

static void *make_room(void *context, size_t *size_out)
{
    struct wio_link *link = context;
    size_t ahead = link->is_open ? link->config->limits.read_ahead : 0;
    return wio_link_stream_room(&link->stream, ahead, tag_bytes(link), size_out);
}

/* R-LINK-5: a tag that does not fit ends the connection before anything is made of the frame. */
bool wio_link_has_tag(struct wio_link *link, const struct wio_link_frame *frame)
{
    return !link->in.has_key || wio_link_tag_fits(&link->in.key, link->in.number++, frame->bytes,
                                                  frame->size, frame->tag);
}

static bool take_frame(struct wio_link *link)
{
    struct wio_link_frame frame;
    enum wio_link_end why = WIO_LINK_STRANGE;
    enum wio_status status =
        wio_link_stream_next(&link->stream, link->body_max, tag_bytes(link), &frame);
    if (status == WIO_END) {
        return false;
    }
    if (status == WIO_ERR_UNSUPPORTED) {
        why = WIO_LINK_OTHER_VERSION;
    }
    if (status == WIO_OK && !link->is_open) {
        status = link->step(link, &frame, &why); /* which looks at the tag itself */
    } else if (status == WIO_OK) {
        why = WIO_LINK_UNPROVEN;
        status = wio_link_has_tag(link, &frame) ? link->step(link, &frame, &why) : WIO_ERR_FORMAT;
    }
    if (status != WIO_OK) {
        wio_link_finish(link, why);
    }
    return true;
}

/* R-LINK-8: what came is paid for; a debt is waited for. */
static void pay(struct wio_link *link, size_t bytes, uint64_t now_ns)
{
    uint64_t rate = link->config->limits.bytes_per_second;
    if (link->rate_timer == NULL) {
        return;
    }
    double earned = (double)(now_ns - link->credit_ns) * (double)rate / (double)SECOND_NS;
    double credit = (double)link->credit + earned;
    link->credit_ns = now_ns;
    credit = credit > (double)rate ? (double)rate : credit;
    if (credit >= (double)bytes) {
        link->credit = (uint64_t)(credit - (double)bytes);
        return;
    }
    double debt = (double)bytes - credit;
    uint64_t wait_ns = (uint64_t)(debt * (double)SECOND_NS / (double)rate) + 1;
    link->credit = 0;
    link->credit_ns = now_ns + wait_ns;
    wio_link_pause(link, WIO_LINK_PAUSED_RATE, true);
    link->io->ops->timer_set(link->rate_timer, wait_ns);
}

static void take_frames(struct wio_link *link)
{
    bool took = false;
    while (!link->is_ended && (link->paused & ~(unsigned)WIO_LINK_PAUSED_RATE) == 0 &&
           take_frame(link)) {
        took = true;
        link->transfer_ns = 0; /* the next one came with its last bytes */
    }
    if (wio_link_stream_held(&link->stream) == 0) {
        link->frame_ns = 0;
    } else if (took || link->frame_ns == 0) {
        link->frame_ns = link->came_ns;
    }
}

static void came(void *context, size_t bytes)
{
    struct wio_link *link = context;
    link->busy++;
    link->came_ns = link->io->ops->now_ns(link->io);
    wio_link_stream_came(&link->stream, bytes);
    pay(link, bytes, link->came_ns);
    link->transfer_ns = link->frame_ns != 0 ? link->came_ns - link->frame_ns : 0;
    take_frames(link);
    link->transfer_ns = 0;
    wio_link_leave(link);
}

void wio_link_resume(struct wio_link *link, unsigned why)
{
    link->busy++;
    wio_link_pause(link, why, false);
    take_frames(link);
    wio_link_leave(link);
}

static void drained(void *context)
{
    struct wio_link *link = context;
    link->busy++;
    wio_link_resume(link, WIO_LINK_PAUSED_UNSENT);
    if (link->is_open && link->events->drained != NULL) {
        link->events->drained(link->context, link);
    }
    wio_link_leave(link);
}

static void closed(void *context, enum wio_status why)
{
    wio_link_finish(context, why == WIO_END ? WIO_LINK_ENDED_BY_PEER : WIO_LINK_BROKEN);
}

static void opened(void *context)
{
    struct wio_link *link = context;
    enum wio_link_end why = WIO_LINK_BROKEN;
    link->busy++;
    if (link->step(link, NULL, &why) != WIO_OK) {
        wio_link_finish(link, why);
    }
    wio_link_leave(link);
}

const struct wio_io_handler wio_link_handler = {
    .opened = opened, .room = make_room, .came = came, .drained = drained, .closed = closed};

/* ---- time ---------------------------------------------------------------------------------- */

static uint64_t period_ns(const struct wio_link *link)
{
    uint64_t silence_ns = link->config->limits.silence_ns;
    return silence_ns > 0 ? silence_ns / 4 : link->config->limits.frame_ns;
}

/* R-LINK-7: a side that has nothing to say says so, four times in a lease. */
static bool ping(struct wio_link *link)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob head = {0};
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    const struct wio_wire_header header = {.kind = WIO_STORE_PING};
    wio_wire_header_put(&header, bytes);
    return wio_blob_put(&head, bytes, sizeof(bytes)) == WIO_OK &&
           wio_link_put(link, &head, NULL, 0) == WIO_OK;
}

static bool is_behind(uint64_t since_ns, uint64_t now_ns, uint64_t limit_ns)
{
    return limit_ns > 0 && since_ns + limit_ns < now_ns;
}

static void look(struct wio_link *link)
{
    const struct wio_link_limits *limits = &link->config->limits;
    uint64_t now_ns = link->io->ops->now_ns(link->io);
    bool is_unread = (link->paused & WIO_LINK_PAUSED_UNSENT) != 0;
    if (is_unread && is_behind(link->came_ns, now_ns, limits->frame_ns)) {
        wio_link_finish(link, WIO_LINK_UNREAD);
    } else if (link->paused == 0 && is_behind(link->came_ns, now_ns, limits->silence_ns)) {
        wio_link_finish(link, WIO_LINK_SILENT);
    } else if (link->paused == 0 && link->frame_ns != 0 &&
               is_behind(link->frame_ns, now_ns, limits->frame_ns)) {
        wio_link_finish(link, WIO_LINK_SLOW);
    } else {
        if (limits->silence_ns > 0 && link->sent_ns + period_ns(link) <= now_ns) {
            (void)ping(link); /* a failure is told by `closed` */
        }
        link->io->ops->timer_set(link->timer, period_ns(link));
    }
}

static void fire(void *context)
{
    struct wio_link *link = context;
    link->busy++;
    if (link->ends_as != WIO_LINK_ENDS) {
        wio_link_finish(link, link->ends_as);
    } else if (!link->is_open) {
        wio_link_finish(link, WIO_LINK_LATE);
    } else {
        look(link);
    }
    wio_link_leave(link);
}

static void earned(void *context)
{
    struct wio_link *link = context;
    link->came_ns = link->io->ops->now_ns(link->io);
    wio_link_pause(link, WIO_LINK_PAUSED_RATE, false);
}

/* ---- made and opened ----------------------------------------------------------------------- */

struct wio_link *wio_link_create(struct wio_io *io, const struct wio_link_config *config,
                                 const struct wio_link_events *events, void *context)
{
    struct wio_link *link = calloc(1, sizeof(*link));
    if (link == NULL) {
        return NULL;
    }
    *link = (struct wio_link){.io = io,
                              .config = config,
                              .events = events,
                              .context = context,
                              .ends_as = WIO_LINK_ENDS,
                              .came_ns = io->ops->now_ns(io)};
    link->credit_ns = link->came_ns;
    link->credit = config->limits.bytes_per_second;
    link->timer = io->ops->timer_create(io, fire, link);
    bool has_rate = config->limits.bytes_per_second > 0;
    link->rate_timer = has_rate ? io->ops->timer_create(io, earned, link) : NULL;
    if (link->timer == NULL || (has_rate && link->rate_timer == NULL)) {
        free_link(link);
        return NULL;
    }
    io->ops->timer_set(link->timer, config->limits.handshake_ns);
    return link;
}

static enum wio_status deliver(struct wio_link *link, const struct wio_link_frame *frame,
                               enum wio_link_end *why)
{
    (void)why;
    if (frame->header.kind == WIO_STORE_PING && frame->header.number == 0) {
        if (link->events->alive != NULL) {
            link->events->alive(link->context, link);
        }
        return WIO_OK;
    }
    link->events->message(link->context, link, &frame->header, frame->body);
    return WIO_OK;
}

void wio_link_open(struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    link->step = deliver;
    link->body_max = link->config->limits.body_max;
    link->is_open = true;
    link->io->ops->timer_set(link->timer, period_ns(link));
    link->events->opened(link->context, link, welcome);
}

enum wio_status wio_link_send(struct wio_link *link, const struct wio_blob *head, const void *data,
                              uint32_t data_bytes)
{
    return link->is_open ? wio_link_put(link, head, data, data_bytes) : WIO_ERR_BUSY;
}

void wio_link_hold(struct wio_link *link, bool is_held)
{
    if (is_held && !link->is_ended) {
        wio_link_pause(link, WIO_LINK_PAUSED_OWNER, true);
    } else if (!is_held && !link->is_ended) {
        link->came_ns = link->io->ops->now_ns(link->io);
        wio_link_resume(link, WIO_LINK_PAUSED_OWNER);
    }
}

void wio_link_reject(struct wio_link *link)
{
    finish_soon(link, WIO_LINK_STRANGE);
}

uint64_t wio_link_transfer_ns(const struct wio_link *link)
{
    return link->transfer_ns;
}

size_t wio_link_unsent(const struct wio_link *link)
{
    return link->is_open ? link->io->ops->conn_unsent(link->conn) : 0;
}

const struct wio_wire_hello *wio_link_hello(const struct wio_link *link)
{
    return &link->hello;
}

const struct wio_wire_features *wio_link_features(const struct wio_link *link)
{
    return &link->features;
}

void wio_link_set_user(struct wio_link *link, void *user)
{
    link->user = user;
}

void *wio_link_user(const struct wio_link *link)
{
    return link->user;
}

void wio_link_close(struct wio_link *link)
{
    if (link == NULL) {
        return;
    }
    if (!link->is_ended) {
        disconnect(link);
        if (link->left != NULL) {
            link->left(link);
        }
    }
    wio_link_release(link);
}
