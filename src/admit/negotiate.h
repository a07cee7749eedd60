/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two peers of different versions may say to each other. In the handshake of a connection each
 * side offers, per class of messages, the formats that it can read (a range) and bits for what it
 * knows; both compute the same agreement. A peer from before the offer existed sends none: format
 * 1 and no bits. Classes are negotiated one by one, so that a class may change alone.
 */
#ifndef WIO_ADMIT_NEGOTIATE_H
#define WIO_ADMIT_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

#define WIO_ADMIT_FEATURE_REJECT 1u   /* busy replies with a hint (flag and 16 bits) */
#define WIO_ADMIT_FEATURE_TICKET 2u   /* a refused request keeps its id */
#define WIO_ADMIT_FEATURE_DEADLINE 4u /* requests carry their remaining time */
#define WIO_ADMIT_FEATURE_CREDIT 8u   /* windows in replies and pushes, demand in requests */
#define WIO_ADMIT_FEATURES 15u        /* all that this version knows */

/* Classes of messages. */
enum wio_message_class {
    WIO_MESSAGE_OBJECT,      /* reads and writes */
    WIO_MESSAGE_TRANSACTION, /* begin, prepare, commit, abort */
    WIO_MESSAGE_CATALOGUE,   /* names */
    WIO_MESSAGE_CONTROL,     /* membership, recovery, rules */
    WIO_MESSAGE_CLASS_COUNT
};

struct wio_offer_class {
    uint16_t first; /* formats that can be read: first .. last */
    uint16_t last;
    uint32_t features;
};

struct wio_offer {
    struct wio_offer_class classes[WIO_MESSAGE_CLASS_COUNT];
};

struct wio_agreed_class {
    uint16_t format; /* 0: the class cannot be used between the two */
    uint32_t features;
};

struct wio_agreement {
    struct wio_agreed_class classes[WIO_MESSAGE_CLASS_COUNT];
};

/* What this version offers: formats 1 and 2 of objects and transactions (2 has the attributes and
 * hints), format 1 of the others, all features. */
struct wio_offer wio_offer_own(void);
/* What a peer without an offer is taken to have said. */
struct wio_offer wio_offer_old(void);

/* The newest common format and the common features of each class; features need format 2 where a
 * class has one. Symmetric. */
struct wio_agreement wio_negotiate(const struct wio_offer *own, const struct wio_offer *peer);

/* The features for struct wio_admit_identity: of the requests that admission sees. */
uint32_t wio_agreement_features(const struct wio_agreement *agreement);

/* A wait in milliseconds for the 16 bits of a hint: rounded up, at least 1, at most 65535. */
uint16_t wio_hint_encode(uint64_t wait_ns);
uint64_t wio_hint_ns(uint16_t hint);

#endif
