/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two recorders prove to each other that they have the run's key, without sending it
 * (throttle/hosts/remote.h: HELLO, CHALLENGE, PROOF). Each side's proof is a tag over the other
 * side's nonce, so that what was sent on another connection proves nothing. Steps wait for nothing:
 *
 *     wio_remote_handshake_call(&shake, fd, &key, &hello);          the recorder, connecting
 *     while (wio_remote_handshake_step(&shake) == WIO_REMOTE_GOES_ON) .. poll shake.link.fd ..
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_HANDSHAKE_H
#define WIO_THROTTLE_HOSTS_REMOTE_HANDSHAKE_H

#include "throttle/hosts/remote_link.h"

enum wio_remote_at {
    WIO_REMOTE_AT_CONNECT,   /* of the worker: the connection is being made */
    WIO_REMOTE_AT_CHALLENGE, /* HELLO was sent */
    WIO_REMOTE_AT_HELLO,     /* of the coordinator: nothing is known of the other side */
    WIO_REMOTE_AT_PROOF,     /* HELLO was made with the key, at some time */
    WIO_REMOTE_AT_END
};

struct wio_remote_handshake {
    struct wio_remote_link link;
    enum wio_remote_at at;
    struct wio_remote_key key;
    struct wio_remote_hello hello;     /* own, or, behind AT_HELLO, the worker's */
    struct wio_remote_nonce challenge; /* the coordinator's */
};

enum wio_remote_step { WIO_REMOTE_GOES_ON, WIO_REMOTE_PROVEN, WIO_REMOTE_REFUSED };

/* Both take over the non-blocking `fd`. The hello's nonce is made here. */
void wio_remote_handshake_call(struct wio_remote_handshake *shake, int fd,
                               const struct wio_remote_key *key,
                               const struct wio_remote_hello *hello);
void wio_remote_handshake_answer(struct wio_remote_handshake *shake, int fd,
                                 const struct wio_remote_key *key);
void wio_remote_handshake_fini(struct wio_remote_handshake *shake);

/* As far as it goes without waiting. When it is proven, the link is taken out by the caller. */
enum wio_remote_step wio_remote_handshake_step(struct wio_remote_handshake *shake);

#endif
