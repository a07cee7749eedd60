/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a link. client.c and server.c set `step` and `ended`; link_core.c calls them. */
#ifndef WIO_STORE_LINK_INTERNAL_H
#define WIO_STORE_LINK_INTERNAL_H

#include "store/link/link.h"
#include "store/link/stream.h"

/* One direction of a connection. Without a key frames have no tags. */
struct wio_link_lane {
    struct wio_link_key key;
    uint64_t number; /* of the next frame */
    bool has_key;
};

/* Of one that does nothing yet but prove itself. */
struct wio_link_proving {
    struct wio_wire_nonce nonce;             /* the server's */
    uint8_t transcript[WIO_LINK_HASH_BYTES]; /* of HELLO, then of HELLO and CHALLENGE */
    uint8_t hello[WIO_LINK_HASH_BYTES];      /* of HELLO */
    struct wio_link_key secrets[2];          /* MUNGE: the server's, the client's */
    bool has_said_hello;                     /* to a server, with the key if there is one */
};

struct wio_link {
    struct wio_io *io;
    struct wio_io_conn *conn;
    const struct wio_link_config *config;
    const struct wio_link_events *events;
    void *context;
    void *user;

    /* What is done with the next frame: WIO_OK, or the link ends by `why`. */
    enum wio_status (*step)(struct wio_link *link, const struct wio_link_frame *frame,
                            enum wio_link_end *why);
    /* What its maker does when it has ended; it may give the link back. */
    void (*ended)(struct wio_link *link, enum wio_link_end why);
    /* What its maker does when the owner ends it; NULL: nothing. */
    void (*left)(struct wio_link *link);
    uint32_t body_max; /* of the next frame */
    bool is_open;
    bool is_ended;
    bool is_released;
    unsigned busy;             /* calls on the stack that use the link after an event */
    enum wio_link_end ends_as; /* what the timer ends it by; WIO_LINK_ENDS: nothing */

    struct wio_link_lane out;
    struct wio_link_lane in;
    struct wio_link_stream stream;
    struct wio_io_timer *timer;
    struct wio_io_timer *rate_timer; /* NULL: no limit */
    unsigned paused;                 /* bits: why nothing is read */
    uint64_t credit;                 /* bytes that may come at once */
    uint64_t credit_ns;              /* when it was counted */
    uint64_t came_ns;
    uint64_t sent_ns;
    uint64_t frame_ns;    /* when the frame at hand began; 0: there is none */
    uint64_t transfer_ns; /* the message that is given to the owner took so long to come */

    struct wio_link_proving proving;
    struct wio_link **work_link; /* where work that is under way has this link; NULL: none */
    struct wio_wire_hello hello;
    struct wio_wire_features features;
    struct wio_io_peer peer;

    struct wio_link_server *server; /* NULL: a client's */
    struct wio_link *next;          /* in one of the server's lists */
    struct wio_link *before;        /* of the first one: the last one */
    bool is_listed_open;
};

enum {
    WIO_LINK_PAUSED_UNSENT = 1,
    WIO_LINK_PAUSED_RATE = 2,
    WIO_LINK_PAUSED_WORK = 4,
    WIO_LINK_PAUSED_OWNER = 8
};

/* NULL: out of memory. It has no connection yet. */
struct wio_link *wio_link_create(struct wio_io *io, const struct wio_link_config *config,
                                 const struct wio_link_events *events, void *context);
extern const struct wio_io_handler wio_link_handler;
/* Ends it once, and calls `ended`: only from an event of the loop. */
void wio_link_finish(struct wio_link *link, enum wio_link_end why);
/* Give the memory back, now or when the last call that uses it returns. */
void wio_link_release(struct wio_link *link);
/* The end of a part that began with `busy++`. */
void wio_link_leave(struct wio_link *link);
void wio_link_pause(struct wio_link *link, unsigned why, bool is_paused);
/* .. no more, and take the frames that are there already. */
void wio_link_resume(struct wio_link *link, unsigned why);
bool wio_link_has_tag(struct wio_link *link, const struct wio_link_frame *frame);

/* A frame with the lane's tag, if it has a key. */
WIO_MUST_CHECK enum wio_status wio_link_put(struct wio_link *link, const struct wio_blob *head,
                                            const void *data, uint32_t data_bytes);

/* From now on messages go to the owner. */
void wio_link_open(struct wio_link *link, const struct wio_wire_welcome *welcome);

/* ---- proofs (proof.c) ---------------------------------------------------------------------- */

/* Make a nonce. */
void wio_link_nonce_make(struct wio_link *link, struct wio_wire_nonce *nonce_out);
/* Whether the tag of a HELLO or CHALLENGE fits: it is made with a key that only its nonces name. */
bool wio_link_proves_hello(struct wio_link *link, const struct wio_link_frame *frame,
                           const struct wio_wire_nonce *client);
bool wio_link_proves_challenge(struct wio_link *link, const struct wio_link_frame *frame,
                               const struct wio_wire_nonce *client,
                               const struct wio_wire_nonce *server);
/* Send one, whose bytes become part of the transcript. */
WIO_MUST_CHECK enum wio_status wio_link_put_hello(struct wio_link *link);
WIO_MUST_CHECK enum wio_status wio_link_put_challenge(struct wio_link *link,
                                                      const struct wio_wire_challenge *challenge);
/* What was read of one. */
void wio_link_note(struct wio_link *link, const struct wio_link_frame *frame);
/* Keys of this connection alone, out of `key` and the transcript. */
void wio_link_take_keys(struct wio_link *link, const struct wio_link_key *key, bool is_client);

/* ---- credentials (credential.c) ------------------------------------------------------------ */

#define WIO_LINK_FOR_MUNGE "whyio store munge"

enum { WIO_LINK_PAYLOAD_BYTES = 96 };

struct wio_link_credential {
    char text[WIO_WIRE_CREDENTIAL_MAX];
    uint8_t payload[WIO_LINK_PAYLOAD_BYTES];
    uint32_t uid; /* made for, or made by */
    uint32_t gid;
    enum wio_status status;
};

typedef void wio_link_credential_done(struct wio_link *link,
                                      const struct wio_link_credential *credential);
/* In the work queue; the link reads nothing meanwhile. `done` comes on the loop, if the link still
 * is there. */
WIO_MUST_CHECK enum wio_status wio_link_credential_make(struct wio_link *link, const void *payload,
                                                        uint32_t for_uid,
                                                        wio_link_credential_done *done);
WIO_MUST_CHECK enum wio_status wio_link_credential_read(struct wio_link *link, const uint8_t *text,
                                                        uint32_t bytes,
                                                        wio_link_credential_done *done);
#endif
