/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/fork_request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

/* The kernel takes 253 descriptors a message (SCM_MAX_FD). */
#define BATCH_FDS 250u
/* The kernel has too many descriptors under way: try again after this, for half a minute in all.
 * The new processes take theirs as they begin; what other programs of the user have may stay. */
#define FULL_NAP_NS UINT64_C(1000000)
#define FULL_NAPS 30000u

/* One descriptor that follows: its number in the trace, and the entry of its table. */
struct passed_fd {
    int32_t number;
    uint8_t is_cloexec;
    uint8_t is_adopted;
    uint16_t reserved;
    uint64_t open_ns;
};

struct batch {
    uint64_t count;
    struct passed_fd items[BATCH_FDS];
};

/* cmsg(3): aligned as the header, with room for a batch. */
union control {
    struct cmsghdr header;
    unsigned char bytes[CMSG_SPACE(BATCH_FDS * sizeof(int))];
};

/* ---- messages ---- */

static bool send_fds(int socket, void *data, size_t bytes, const int *fds, size_t count)
{
    union control control = {.header = {.cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS,
                                        .cmsg_len = CMSG_LEN(count * sizeof(int))}};
    struct iovec part = {data, bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    ssize_t sent;
    uint32_t naps = 0;
    memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
    while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 &&
           (errno == EINTR || (errno == ETOOMANYREFS && naps < FULL_NAPS))) {
        if (errno == ETOOMANYREFS) {
            naps++;
            wio_clock_sleep_ns(FULL_NAP_NS);
        }
    }
    return sent == (ssize_t)bytes;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)close(fds[i]);
    }
}

/* Bytes received, 0 = end, -1 with errno. `fds`: BATCH_FDS of them. */
static ssize_t receive_fds(int socket, void *data, size_t bytes, int *fds, size_t *count_out)
{
    union control control = {0};
    struct iovec part = {data, bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t got;
    *count_out = 0;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (got > 0 && control.header.cmsg_type == SCM_RIGHTS) {
        *count_out = (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(&control.header), *count_out * sizeof(int));
    }
    if (got > 0 && (message.msg_flags & MSG_CTRUNC) != 0) { /* there is no room for all of them */
        close_all(fds, *count_out);
        errno = EMFILE;
        return -1;
    }
    return got;
}

/* ---- descriptors ---- */

static size_t batch_bytes(const struct batch *batch)
{
    return offsetof(struct batch, items) + batch->count * sizeof(batch->items[0]);
}

/* Another thread may close one of them meanwhile: that one is left out. */
static bool send_one_by_one(int channel, const struct batch *batch, const int *fds)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        struct batch one = {.count = 1};
        one.items[0] = batch->items[i];
        if (!send_fds(channel, &one, batch_bytes(&one), &fds[i], 1) && errno != EBADF) {
            return false;
        }
    }
    return true;
}

static bool send_batch(int channel, struct batch *batch, const int *fds)
{
    bool is_sent = batch->count == 0 ||
                   send_fds(channel, batch, batch_bytes(batch), fds, batch->count) ||
                   (errno == EBADF && send_one_by_one(channel, batch, fds));
    batch->count = 0;
    return is_sent;
}

static bool send_table(int channel, const struct rp_fds *table)
{
    struct batch batch = {0};
    int fds[BATCH_FDS];
    for (uint32_t i = 0; i < table->count; i++) {
        const struct rp_fd *entry = &table->items[i];
        int real = rp_fd_real(entry);
        if (real < 0) {
            continue;
        }
        batch.items[batch.count] = (struct passed_fd){.number = (int32_t)i,
                                                      .is_cloexec = entry->is_cloexec,
                                                      .is_adopted = entry->is_adopted,
                                                      .open_ns = entry->open_ns};
        fds[batch.count++] = real;
        if (batch.count == BATCH_FDS && !send_batch(channel, &batch, fds)) {
            return false;
        }
    }
    return send_batch(channel, &batch, fds);
}

static void keep_batch(const struct batch *batch, const int *fds, size_t count,
                       struct rp_fds *table)
{
    for (size_t i = 0; i < count; i++) {
        struct rp_fd *entry = i < batch->count ? rp_fds_at(table, batch->items[i].number) : NULL;
        if (entry == NULL) {
            (void)close(fds[i]);
            continue;
        }
        rp_fd_set(entry, fds[i], batch->items[i].is_cloexec != 0, batch->items[i].open_ns);
        entry->is_adopted = batch->items[i].is_adopted != 0;
    }
}

/* ---- requests ---- */

bool rp_fork_ask(uint32_t group, const struct rp_start *start)
{
    int pair[2];
    struct rp_fork_request request = {
        .group = group, .base_ns = start->base_ns, .traced_base_ns = start->traced_base_ns};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    int channel WIO_CLEANUP(wio_fd_cleanup) = pair[0];
    struct batch server = {0};
    bool is_asked = send_fds(start->server, &request, sizeof(request), &pair[1], 1);
    int why = errno;
    (void)close(pair[1]); /* the new process has the only one then: its end ends what is sent */
    errno = why;
    return is_asked && send_fds(channel, &server, batch_bytes(&server), &start->server, 1) &&
           send_table(channel, &start->inherited);
}

int rp_fork_next(int listener, struct rp_fork_request *request_out, int *channel_out)
{
    int fds[BATCH_FDS];
    size_t count;
    ssize_t got = receive_fds(listener, request_out, sizeof(*request_out), fds, &count);
    if (got <= 0) {
        return (int)got;
    }
    if (got != (ssize_t)sizeof(*request_out) || count != 1) {
        errno = EPROTO;
        return -1;
    }
    *channel_out = fds[0];
    return 1;
}

bool rp_fork_take(int channel, const struct rp_fork_request *request, uint32_t table,
                  struct rp_start *start_out)
{
    struct batch batch = {0};
    int fds[BATCH_FDS];
    size_t count;
    ssize_t got = receive_fds(channel, &batch, sizeof(batch), fds, &count);
    *start_out = (struct rp_start){.base_ns = request->base_ns,
                                   .traced_base_ns = request->traced_base_ns,
                                   .server = count == 1 ? fds[0] : -1};
    if (got <= 0 || count != 1 || rp_fds_init(&start_out->inherited, table, NULL) != WIO_OK) {
        errno = got < 0 ? errno : EPROTO;
        return false;
    }
    while ((got = receive_fds(channel, &batch, sizeof(batch), fds, &count)) > 0) {
        keep_batch(&batch, fds, count, &start_out->inherited);
    }
    (void)close(channel);
    return got == 0;
}
