/* SPDX-License-Identifier: Apache-2.0 */
#include "record/far.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"

#define WIO_FAR_MAGIC UINT64_C(0x3152414657494957)
#define MILLISECOND_NS UINT64_C(1000000)
#define BODY_MAX ((size_t)1 << 20)

struct head {
    uint64_t magic;
    uint32_t kind;
    uint32_t size; /* of the body */
};

void wio_far_message_fini(struct wio_far_message *message)
{
    free(message->data);
    *message = (struct wio_far_message){0};
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

static bool send_all(int fd, const uint8_t *data, size_t size, int flags)
{
    uint64_t until_ns = wio_clock_mono_ns() + WIO_FAR_SILENCE_NS;
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        } else if (errno == EAGAIN) {
            if (!wait_for(fd, POLLOUT, until_ns)) {
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool wio_far_send(int fd, enum wio_far_kind kind, const void *body, size_t size, const void *more,
                  size_t more_size)
{
    const struct head head = {WIO_FAR_MAGIC, kind, (uint32_t)(size + more_size)};
    return send_all(fd, (const uint8_t *)&head, sizeof(head), MSG_MORE) &&
           send_all(fd, body, size, more_size > 0 ? MSG_MORE : 0) &&
           send_all(fd, more, more_size, 0);
}

static bool receive_all(int fd, uint8_t *data, size_t size, uint64_t until_ns)
{
    while (size > 0) {
        ssize_t got = recv(fd, data, size, MSG_DONTWAIT);
        if (got > 0) {
            data += got;
            size -= (size_t)got;
        } else if (got == 0) {
            return false;
        } else if (errno == EAGAIN) {
            if (!wait_for(fd, POLLIN, until_ns)) {
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool make_room(struct wio_far_message *message, size_t size)
{
    if (size > message->room) {
        uint8_t *data = realloc(message->data, size);
        if (data == NULL) {
            return false;
        }
        message->data = data;
        message->room = size;
    }
    message->size = size;
    return true;
}

bool wio_far_receive(int fd, enum wio_far_kind kind, size_t least, uint64_t limit_ns,
                     struct wio_far_message *message)
{
    uint64_t until_ns = wio_clock_mono_ns() + limit_ns;
    struct head head;
    return receive_all(fd, (uint8_t *)&head, sizeof(head), until_ns) &&
           head.magic == WIO_FAR_MAGIC && head.kind == (uint32_t)kind && head.size >= least &&
           head.size <= BODY_MAX && make_room(message, head.size) &&
           receive_all(fd, message->data, head.size, until_ns);
}
