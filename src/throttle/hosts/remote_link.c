/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/io.h"

#define MILLISECOND_NS UINT64_C(1000000)
/* Frames that were passed over; more of them are an attack on time. */
#define REPEATED_MAX 4096u
/* Both sides have proven themselves with the first two frames: until then none is long. */
#define PROVEN 2u

void wio_remote_link_fini(struct wio_remote_link *link)
{
    wio_fd_cleanup(&link->fd);
    wio_remote_key_forget(&link->send_key);
    wio_remote_key_forget(&link->receive_key);
    wio_blob_fini(&link->in);
    wio_blob_fini(&link->frame);
    wio_blob_fini(&link->out);
}

/* False where time is over. */
static bool wait_for(int fd, short events, uint64_t until_ns)
{
    for (;;) {
        uint64_t now_ns = wio_clock_mono_ns();
        uint64_t left_ms = now_ns < until_ns ? (until_ns - now_ns) / MILLISECOND_NS + 1 : 0;
        struct pollfd pollfd = {.fd = fd, .events = events};
        int result = poll(&pollfd, 1, (int)left_ms);
        if (result > 0) {
            return true;
        }
        if (result == 0 || errno != EINTR) {
            return false;
        }
    }
}

/* ---- out ---------------------------------------------------------------------------------- */

static bool send_all(int fd, const uint8_t *data, size_t size, uint64_t limit_ns)
{
    uint64_t until_ns = wio_clock_mono_ns() + limit_ns;
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        } else if (errno == EAGAIN) {
            if (limit_ns == 0 || !wait_for(fd, POLLOUT, until_ns)) {
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool wio_remote_send(struct wio_remote_link *link, enum wio_remote_kind kind,
                     const struct wio_blob *body, uint64_t limit_ns)
{
    wio_blob_clear(&link->out);
    return wio_remote_frame_put(&link->out, kind, link->sent++, body, &link->send_key) == WIO_OK &&
           send_all(link->fd, link->out.data, link->out.size, limit_ns);
}

/* ---- in ----------------------------------------------------------------------------------- */

/* Up to `needed` bytes of the frame at hand. */
static enum wio_remote_came fill(struct wio_remote_link *link, size_t needed)
{
    while (link->in.size < needed) {
        size_t more = needed - link->in.size;
        if (wio_blob_reserve(&link->in, more) != WIO_OK) {
            return WIO_REMOTE_GONE;
        }
        ssize_t got = recv(link->fd, link->in.data + link->in.size, more, MSG_DONTWAIT);
        if (got > 0) {
            link->in.size += (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            return WIO_REMOTE_NOTHING;
        } else if (got == 0 || errno != EINTR) {
            return WIO_REMOTE_GONE;
        }
    }
    return WIO_REMOTE_MESSAGE;
}

/* The frame as a whole, in link->frame. */
static enum wio_remote_came read_frame(struct wio_remote_link *link, struct wio_remote_frame *frame)
{
    size_t needed = 0;
    uint32_t most = link->received < PROVEN ? wio_remote_body_max(WIO_REMOTE_HELLO) : UINT32_MAX;
    enum wio_status status;
    while ((status = wio_remote_frame_get(wio_buf_of(link->in.data, link->in.size), most, frame,
                                          &needed)) == WIO_END) {
        enum wio_remote_came came = fill(link, needed);
        if (came != WIO_REMOTE_MESSAGE) {
            return came;
        }
    }
    if (status != WIO_OK) {
        return WIO_REMOTE_WRONG;
    }
    struct wio_blob whole = link->in;
    link->in = link->frame;
    link->frame = whole;
    wio_blob_clear(&link->in);
    return WIO_REMOTE_MESSAGE;
}

static bool has_tag(const struct wio_remote_link *link, const struct wio_remote_frame *frame)
{
    return wio_remote_tag_fits(&link->receive_key, link->frame.data, frame->tagged, frame->tag);
}

/* A frame of before, once more. The first one's key is not there any more. */
static bool is_repeated(const struct wio_remote_link *link, const struct wio_remote_frame *frame)
{
    bool is_first = frame->number == 0;
    return frame->number < link->received &&
           (is_first ? memcmp(frame->tag, link->first_tag, WIO_REMOTE_TAG_BYTES) == 0
                     : has_tag(link, frame));
}

static enum wio_remote_came take(struct wio_remote_link *link, enum wio_remote_kind kind,
                                 const struct wio_remote_frame *frame, struct wio_buf *body_out)
{
    if (!has_tag(link, frame) || frame->kind != (uint32_t)kind) {
        return WIO_REMOTE_WRONG;
    }
    if (link->received == 0) {
        memcpy(link->first_tag, frame->tag, sizeof(link->first_tag));
    }
    link->received++;
    *body_out = frame->body;
    return WIO_REMOTE_MESSAGE;
}

enum wio_remote_came wio_remote_poll(struct wio_remote_link *link, enum wio_remote_kind kind,
                                     struct wio_buf *body_out)
{
    struct wio_remote_frame frame;
    for (;;) {
        enum wio_remote_came came = read_frame(link, &frame);
        if (came != WIO_REMOTE_MESSAGE) {
            return came;
        }
        if (frame.number == link->received) {
            return take(link, kind, &frame, body_out);
        }
        if (!is_repeated(link, &frame) || ++link->repeated > REPEATED_MAX) {
            return WIO_REMOTE_WRONG;
        }
    }
}

enum wio_remote_came wio_remote_receive(struct wio_remote_link *link, enum wio_remote_kind kind,
                                        uint64_t limit_ns, struct wio_buf *body_out)
{
    uint64_t until_ns = wio_clock_mono_ns() + limit_ns;
    enum wio_remote_came came;
    while ((came = wio_remote_poll(link, kind, body_out)) == WIO_REMOTE_NOTHING) {
        if (!wait_for(link->fd, POLLIN, until_ns)) {
            return WIO_REMOTE_NOTHING;
        }
    }
    return came;
}
