/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/admission.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/io.h"

/* Connections that are accepted in a step, of which many fit between two samples of the threads. */
#define ACCEPTED_MAX 64u

struct new_link {
    struct wio_remote_handshake shake;
    uint64_t until_ns;
    bool is_proven;
};

struct wio_admission {
    struct wio_remote_listeners listeners;
    struct wio_remote_key key;
    struct new_link *pending[WIO_ADMISSION_MAX]; /* the oldest first */
    uint32_t count;
    struct wio_remote_nonce *nonces; /* of all HELLOs of the run */
    uint32_t nonce_count;
    uint32_t nonce_room;
    uint64_t refused;
};

/* ---- life --------------------------------------------------------------------------------- */

enum wio_status wio_admission_create(const struct wio_remote_where *where,
                                     struct wio_admission **admission_out, struct wio_error *err)
{
    *admission_out = calloc(1, sizeof(**admission_out));
    if (*admission_out == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return wio_remote_listen(where, &(*admission_out)->listeners, err);
}

static void forget(struct wio_admission *admission, uint32_t i)
{
    wio_remote_handshake_fini(&admission->pending[i]->shake);
    free(admission->pending[i]);
    admission->count--;
    memmove(&admission->pending[i], &admission->pending[i + 1],
            (admission->count - i) *
                sizeof(*admission->pending)); /* NOLINT(bugprone-sizeof-expression) */
}

static void refuse(struct wio_admission *admission, uint32_t i)
{
    forget(admission, i);
    admission->refused++;
}

void wio_admission_begin(struct wio_admission *admission, const struct wio_remote_key *key)
{
    while (admission->count > 0) {
        forget(admission, admission->count - 1);
    }
    admission->key = *key;
    admission->nonce_count = 0;
    admission->refused = 0;
}

void wio_admission_destroy(struct wio_admission *admission)
{
    const struct wio_remote_key none = {{0}};
    if (admission != NULL) {
        wio_admission_begin(admission, &none);
        wio_remote_listeners_fini(&admission->listeners);
        free(admission->nonces);
        free(admission);
    }
}

const struct wio_remote_listeners *wio_admission_listeners(const struct wio_admission *admission)
{
    return &admission->listeners;
}

uint64_t wio_admission_refused(const struct wio_admission *admission)
{
    return admission->refused;
}

uint32_t wio_admission_pending(const struct wio_admission *admission)
{
    return admission->count;
}

/* ---- accepting ---------------------------------------------------------------------------- */

/* The oldest of those that have not said HELLO with the key; false: there is none. */
static bool close_unknown(struct wio_admission *admission)
{
    for (uint32_t i = 0; i < admission->count; i++) {
        if (admission->pending[i]->shake.at == WIO_REMOTE_AT_HELLO) {
            refuse(admission, i);
            return true;
        }
    }
    return false;
}

/* accept(2) tells that descriptors have run out whether there is a connection or not. */
static bool is_called(int listener)
{
    struct pollfd poll_fd = {.fd = listener, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

/* Connections that say nothing may not take all descriptors of the process. */
static int accept_next(struct wio_admission *admission, int listener)
{
    const int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd = accept4(listener, NULL, NULL, flags);
    bool is_full = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (is_full && is_called(listener) && close_unknown(admission)) {
        fd = accept4(listener, NULL, NULL, flags);
    }
    return fd;
}

/* False: there is no connection, or no room for one. */
static bool accept_one(struct wio_admission *admission, int listener)
{
    if (admission->count == WIO_ADMISSION_MAX && !close_unknown(admission)) {
        return false;
    }
    int fd = accept_next(admission, listener);
    struct new_link *pending = fd >= 0 ? calloc(1, sizeof(*pending)) : NULL;
    if (pending == NULL) {
        wio_fd_cleanup(&fd);
        return false;
    }
    wio_remote_handshake_answer(&pending->shake, fd, &admission->key);
    pending->until_ns = wio_clock_mono_ns() + WIO_REMOTE_SILENCE_NS;
    admission->pending[admission->count++] = pending;
    return true;
}

/* ---- proving ------------------------------------------------------------------------------ */

/* True: what was said before is said again. */
static bool is_repeated(struct wio_admission *admission, const struct wio_remote_nonce *nonce)
{
    for (uint32_t i = 0; i < admission->nonce_count; i++) {
        if (memcmp(&admission->nonces[i], nonce, sizeof(*nonce)) == 0) {
            return true;
        }
    }
    void *nonces = admission->nonces;
    if (wio_make_room(&nonces, sizeof(*nonce), &admission->nonce_room,
                      admission->nonce_count + 1) != WIO_OK) {
        return true; /* nothing can be known of it */
    }
    admission->nonces = nonces;
    admission->nonces[admission->nonce_count++] = *nonce;
    return false;
}

/* False: it is to be closed. */
static bool go_on(struct wio_admission *admission, struct new_link *pending)
{
    bool was_unknown = pending->shake.at == WIO_REMOTE_AT_HELLO;
    enum wio_remote_step step =
        pending->is_proven ? WIO_REMOTE_PROVEN : wio_remote_handshake_step(&pending->shake);
    bool is_known =
        was_unknown && step != WIO_REMOTE_REFUSED && pending->shake.at != WIO_REMOTE_AT_HELLO;
    if (step == WIO_REMOTE_REFUSED ||
        (is_known && is_repeated(admission, &pending->shake.hello.nonce))) {
        return false;
    }
    pending->is_proven = step == WIO_REMOTE_PROVEN;
    return pending->is_proven || wio_clock_mono_ns() < pending->until_ns;
}

void wio_admission_step(struct wio_admission *admission)
{
    for (uint32_t l = 0; l < admission->listeners.count; l++) {
        uint32_t left = ACCEPTED_MAX;
        while (left > 0 && accept_one(admission, admission->listeners.fds[l])) {
            left--;
        }
    }
    for (uint32_t i = admission->count; i-- > 0;) {
        if (!go_on(admission, admission->pending[i])) {
            refuse(admission, i);
        }
    }
}

bool wio_admission_next(struct wio_admission *admission, struct wio_remote_link *link_out,
                        struct wio_remote_hello *hello_out)
{
    for (uint32_t i = 0; i < admission->count; i++) {
        struct wio_remote_handshake *shake = &admission->pending[i]->shake;
        if (admission->pending[i]->is_proven) {
            *link_out = shake->link;
            *hello_out = shake->hello;
            shake->link = (struct wio_remote_link){.fd = -1};
            forget(admission, i);
            return true;
        }
    }
    return false;
}
