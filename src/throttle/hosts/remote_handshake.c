/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_handshake.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/cleanup.h"

/* What keys are for. */
#define FOR_HELLO "whyio hello"
#define FOR_CHALLENGE "whyio challenge"
#define FROM_RECORDER "whyio from recorder"
#define FROM_DIRECTOR "whyio from director"

static void begin(struct wio_remote_handshake *shake, int fd, const struct wio_remote_key *key)
{
    const int yes = 1;
    *shake = (struct wio_remote_handshake){.link = {.fd = fd}, .key = *key};
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

void wio_remote_handshake_call(struct wio_remote_handshake *shake, int fd,
                               const struct wio_remote_key *key,
                               const struct wio_remote_hello *hello)
{
    begin(shake, fd, key);
    shake->at = WIO_REMOTE_AT_CONNECT;
    shake->hello = *hello;
    wio_remote_nonce_make(&shake->hello.nonce);
    const struct wio_remote_nonce *nonce = &shake->hello.nonce;
    wio_remote_key_derive(key, FOR_HELLO, NULL, NULL, &shake->link.send_key);
    wio_remote_key_derive(key, FOR_CHALLENGE, nonce, NULL, &shake->link.receive_key);
}

void wio_remote_handshake_answer(struct wio_remote_handshake *shake, int fd,
                                 const struct wio_remote_key *key)
{
    begin(shake, fd, key);
    shake->at = WIO_REMOTE_AT_HELLO;
    wio_remote_key_derive(key, FOR_HELLO, NULL, NULL, &shake->link.receive_key);
}

void wio_remote_handshake_fini(struct wio_remote_handshake *shake)
{
    wio_remote_link_fini(&shake->link);
    wio_remote_key_forget(&shake->key);
}

/* From now on keys of this connection alone. */
static void take_keys(struct wio_remote_handshake *shake, struct wio_remote_key *from_recorder,
                      struct wio_remote_key *from_director)
{
    const struct wio_remote_nonce *nonce = &shake->hello.nonce;
    wio_remote_key_derive(&shake->key, FROM_RECORDER, nonce, &shake->challenge, from_recorder);
    wio_remote_key_derive(&shake->key, FROM_DIRECTOR, nonce, &shake->challenge, from_director);
}

/* ---- the recorder ------------------------------------------------------------------------- */

static enum wio_remote_step connect_step(struct wio_remote_handshake *shake)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob body = {0};
    struct pollfd pollfd = {.fd = shake->link.fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);
    if (poll(&pollfd, 1, 0) <= 0) {
        return WIO_REMOTE_GOES_ON;
    }
    if (getsockopt(shake->link.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0 ||
        wio_remote_put_hello(&body, &shake->hello) != WIO_OK ||
        !wio_remote_send(&shake->link, WIO_REMOTE_HELLO, &body, 0)) {
        return WIO_REMOTE_REFUSED;
    }
    shake->at = WIO_REMOTE_AT_CHALLENGE;
    return WIO_REMOTE_GOES_ON;
}

static enum wio_remote_step challenge_step(struct wio_remote_handshake *shake,
                                           const struct wio_buf *body)
{
    const struct wio_blob nothing = {0};
    if (wio_remote_get_challenge(*body, &shake->challenge) != WIO_OK) {
        return WIO_REMOTE_REFUSED;
    }
    take_keys(shake, &shake->link.send_key, &shake->link.receive_key);
    if (!wio_remote_send(&shake->link, WIO_REMOTE_PROOF, &nothing, 0)) {
        return WIO_REMOTE_REFUSED;
    }
    shake->at = WIO_REMOTE_AT_END;
    return WIO_REMOTE_PROVEN;
}

/* ---- the coordinator ---------------------------------------------------------------------- */

static enum wio_remote_step hello_step(struct wio_remote_handshake *shake,
                                       const struct wio_buf *body)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob answer = {0};
    if (wio_remote_get_hello(*body, &shake->hello) != WIO_OK) {
        return WIO_REMOTE_REFUSED;
    }
    wio_remote_nonce_make(&shake->challenge);
    wio_remote_key_derive(&shake->key, FOR_CHALLENGE, &shake->hello.nonce, NULL,
                          &shake->link.send_key);
    if (wio_remote_put_challenge(&answer, &shake->challenge) != WIO_OK ||
        !wio_remote_send(&shake->link, WIO_REMOTE_CHALLENGE, &answer, 0)) {
        return WIO_REMOTE_REFUSED;
    }
    take_keys(shake, &shake->link.receive_key, &shake->link.send_key);
    shake->at = WIO_REMOTE_AT_PROOF;
    return WIO_REMOTE_GOES_ON;
}

static enum wio_remote_step message_step(struct wio_remote_handshake *shake)
{
    static const enum wio_remote_kind expected[] = {
        [WIO_REMOTE_AT_CHALLENGE] = WIO_REMOTE_CHALLENGE,
        [WIO_REMOTE_AT_HELLO] = WIO_REMOTE_HELLO,
        [WIO_REMOTE_AT_PROOF] = WIO_REMOTE_PROOF,
    };
    struct wio_buf body = {0};
    enum wio_remote_came came = wio_remote_poll(&shake->link, expected[shake->at], &body);
    if (came != WIO_REMOTE_MESSAGE) {
        return came == WIO_REMOTE_NOTHING ? WIO_REMOTE_GOES_ON : WIO_REMOTE_REFUSED;
    }
    if (shake->at == WIO_REMOTE_AT_PROOF) {
        shake->at = WIO_REMOTE_AT_END;
        return WIO_REMOTE_PROVEN;
    }
    return shake->at == WIO_REMOTE_AT_HELLO ? hello_step(shake, &body)
                                            : challenge_step(shake, &body);
}

enum wio_remote_step wio_remote_handshake_step(struct wio_remote_handshake *shake)
{
    enum wio_remote_step step = WIO_REMOTE_GOES_ON;
    enum wio_remote_at before;
    do {
        before = shake->at;
        step = shake->at == WIO_REMOTE_AT_CONNECT ? connect_step(shake) : message_step(shake);
    } while (step == WIO_REMOTE_GOES_ON && shake->at != before);
    return step;
}
