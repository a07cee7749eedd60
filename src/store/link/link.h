/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection between two programs of the store that have proven their identity to each other
 * (docs/STORE-PROTOCOL.md#session), over the seam store/io.h. Messages go out and come in whole;
 * how much memory, time and rate the other side may take is bounded (struct wio_link_limits).
 *
 *     wio_link_connect(io, "unix:/run/s", &config, &hello, &events, client, &link, &err);
 *     .. events.opened .. wio_link_send(link, ..) .. events.message ..
 *     .. events.closed .. wio_link_close(link)
 *
 * One thread: that of the loop. No event comes from within a function here; within an event all of
 * them may be called. `config` and `events` live as long as the link.
 */
#ifndef WIO_STORE_LINK_LINK_H
#define WIO_STORE_LINK_LINK_H

#include "store/io.h"
#include "store/link/keys.h"
#include "store/wire/session.h"

struct wio_link;

/* Why a connection ended; servers count each. */
enum wio_link_end {
    WIO_LINK_ENDED_BY_PEER, /* it closed */
    WIO_LINK_ENDED_BY_US,   /* wio_link_close */
    WIO_LINK_BROKEN,        /* the network or memory failed */
    WIO_LINK_STRANGE,       /* bytes that this protocol does not send there */
    WIO_LINK_OTHER_VERSION, /* .. of another version of it */
    WIO_LINK_UNPROVEN,      /* a tag or credential that does not fit: another key, changed bytes */
    WIO_LINK_OTHER_AUTH,    /* one side has a key or MUNGE and the other one does not */
    WIO_LINK_LATE,          /* did not prove itself in time */
    WIO_LINK_CROWDED_OUT,   /* too many others had not either */
    WIO_LINK_SILENT,        /* nothing came for longer than a lease */
    WIO_LINK_SLOW,          /* a frame began and did not end in time */
    WIO_LINK_UNREAD,        /* the other side does not read what it asked for */
    WIO_LINK_NOT_ADMITTED,  /* by events.admit */
    WIO_LINK_ENDS
};

/* "bytes of a stranger" and so on; never NULL. */
const char *wio_link_end_text(enum wio_link_end end);

struct wio_link_limits {
    uint32_t body_max;         /* bytes of a body, behind the proof */
    uint32_t read_ahead;       /* bytes of further frames that are taken with one */
    size_t unsent_pause;       /* bytes unsent: read no further requests */
    size_t unsent_max;         /* .. end the connection */
    uint64_t bytes_per_second; /* that are read; 0: no limit */
    uint64_t handshake_ns;     /* until the proof */
    uint64_t silence_ns;       /* nothing came: it is dead; 0: for ever */
    uint64_t frame_ns;         /* from a frame's first byte to its last one */
    unsigned strangers_max;    /* connections to a server that have proven nothing yet */
    unsigned links_max;        /* .. that have */
};
/* 4 MiB of data, 64 MiB unsent, 5 s to prove, 2 s of silence (a lease), 256 strangers, 16384 links.
 */
extern const struct wio_link_limits wio_link_limits_default;

/*
 * Credentials that say which user made them: MUNGE's (store/link/munge_credentials.h), or a test's.
 * Both functions run in the work queue, never on the loop.
 */
struct wio_link_credentials {
    /* A text that carries `payload` to processes of `for_uid` alone; in `text_out`, ended by NUL.
     */
    enum wio_status (*make)(void *context, const void *payload, size_t bytes, uint32_t for_uid,
                            char text_out[WIO_WIRE_CREDENTIAL_MAX], struct wio_error *err);
    /* Whose it is, and what it carries: exactly `bytes`. */
    enum wio_status (*read)(void *context, const char *text, void *payload_out, size_t bytes,
                            uint32_t *uid_out, uint32_t *gid_out, struct wio_error *err);
    void *context;
};

struct wio_link_config {
    enum wio_wire_auth auth;                        /* what both sides must say */
    struct wio_link_key key;                        /* AUTH_KEY */
    const struct wio_link_credentials *credentials; /* AUTH_MUNGE */
    uint32_t server_uid; /* AUTH_MUNGE, of a client: whose server it is */
    struct wio_wire_features features;
    struct wio_link_limits limits;
};

struct wio_link_events {
    /* Of a server: the other side has proven to be what `hello` says now (uid and gid as proven by
     * welcome->proof). Fills in job, lease and server of `welcome`; false refuses. */
    bool (*admit)(void *context, struct wio_link *link, const struct wio_wire_hello *hello,
                  struct wio_wire_welcome *welcome);
    /* Messages may be sent from now on. `welcome` is the server's word, on both sides. */
    void (*opened)(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome);
    /* The body lives until this returns; its CRC and tag fit. PING with number 0 is the link's. */
    void (*message)(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body);
    /* The last event of a link that was admitted, and of any that wio_link_connect made. The owner
     * still calls wio_link_close. */
    void (*closed)(void *context, struct wio_link *link, enum wio_link_end why);
    /* Nothing is unsent any more (wio_link_unsent); may be NULL. */
    void (*drained)(void *context, struct wio_link *link);
    /* The other side is there, with nothing to say; may be NULL. */
    void (*alive)(void *context, struct wio_link *link);
};

/* A client's side. The hello's nonce, auth and features are made here. `opened` or `closed`
 * follows. WIO_ERR_USAGE: no address, or no credentials; WIO_ERR_UNSUPPORTED: no libsodium. */
WIO_MUST_CHECK enum wio_status wio_link_connect(struct wio_io *io, const char *address,
                                                const struct wio_link_config *config,
                                                const struct wio_wire_hello *hello,
                                                const struct wio_link_events *events, void *context,
                                                struct wio_link **link_out, struct wio_error *err);

/*
 * Send what an encoder appended to `head` and `data_bytes` of data behind it: one message. All of
 * it is taken. WIO_ERR_BUSY: not open. An error of the connection is told by `closed`, later.
 */
WIO_MUST_CHECK enum wio_status wio_link_send(struct wio_link *link, const struct wio_blob *head,
                                             const void *data, uint32_t data_bytes);

/* Within `message`: how long ago the first bytes of this message had come; 0: it came at once, as
 * far as the clock of the loop tells. */
uint64_t wio_link_transfer_ns(const struct wio_link *link);

/* Bytes that the kernel did not take yet. A client bounds them by itself, a server's links are
 * bound by limits.unsent_max. */
size_t wio_link_unsent(const struct wio_link *link);

/* Read nothing of it, or go on. The other side is not taken for dead meanwhile. */
void wio_link_hold(struct wio_link *link, bool is_held);

/* The owner cannot read what came: the link ends so, `closed` follows. */
void wio_link_reject(struct wio_link *link);

/* What the other side said of itself, with what was proven (of a server's links). */
const struct wio_wire_hello *wio_link_hello(const struct wio_link *link);
/* Features that both sides have. */
const struct wio_wire_features *wio_link_features(const struct wio_link *link);
/* The owner's thing that goes with a link; NULL at first. */
void wio_link_set_user(struct wio_link *link, void *user);
void *wio_link_user(const struct wio_link *link);

/* End it and give it back; no event comes any more. NULL is allowed. */
void wio_link_close(struct wio_link *link);

#endif
