/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection between two recorders (throttle/hosts/remote.h): frames with tags out and in.
 *
 * A frame that has come before - the same number with the same tag - is passed over: bytes that are
 * sent a second time change nothing. Any other frame that does not fit ends the connection.
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_LINK_H
#define WIO_THROTTLE_HOSTS_REMOTE_LINK_H

#include "throttle/hosts/remote_frame.h"

/* Begin with {.fd = -1}. One thread. */
struct wio_remote_link {
    int fd; /* non-blocking; -1: closed */
    struct wio_remote_key send_key;
    struct wio_remote_key receive_key;
    uint64_t sent;
    uint64_t received;
    uint64_t repeated;                       /* frames that were passed over */
    uint8_t first_tag[WIO_REMOTE_TAG_BYTES]; /* of the first one, made with another key */
    struct wio_blob in;                      /* the begin of a frame */
    struct wio_blob frame; /* the last one that came: its body is the reader's until the next */
    struct wio_blob out;
};

void wio_remote_link_fini(struct wio_remote_link *link);

enum wio_remote_came {
    WIO_REMOTE_NOTHING, /* as a whole, so far */
    WIO_REMOTE_MESSAGE,
    WIO_REMOTE_GONE, /* closed */
    WIO_REMOTE_WRONG /* bytes that no recorder of the run sends */
};

/* Reads what is there, waits for nothing. The body lives until the next call. */
enum wio_remote_came wio_remote_poll(struct wio_remote_link *link, enum wio_remote_kind kind,
                                     struct wio_buf *body_out);
/* The same, waiting at most `limit_ns`: WIO_REMOTE_NOTHING when that is over. */
enum wio_remote_came wio_remote_receive(struct wio_remote_link *link, enum wio_remote_kind kind,
                                        uint64_t limit_ns, struct wio_buf *body_out);

/* Waits until the kernel has all of it, at most `limit_ns` (0: it takes it at once or not at all).
 * False: the other one is gone or does not read. */
WIO_MUST_CHECK bool wio_remote_send(struct wio_remote_link *link, enum wio_remote_kind kind,
                                    const struct wio_blob *body, uint64_t limit_ns);

#endif
