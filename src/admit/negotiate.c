/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/negotiate.h"

#define HINT_UNIT_NS 1000000

struct wio_offer wio_offer_own(void)
{
    struct wio_offer offer = wio_offer_old();
    offer.classes[WIO_MESSAGE_OBJECT].last = 2;
    offer.classes[WIO_MESSAGE_TRANSACTION].last = 2;
    for (unsigned i = 0; i < WIO_MESSAGE_CLASS_COUNT; i++) {
        offer.classes[i].features = WIO_ADMIT_FEATURES;
    }
    return offer;
}

struct wio_offer wio_offer_old(void)
{
    struct wio_offer offer;
    for (unsigned i = 0; i < WIO_MESSAGE_CLASS_COUNT; i++) {
        offer.classes[i] = (struct wio_offer_class){.first = 1, .last = 1};
    }
    return offer;
}

static struct wio_agreed_class agree(const struct wio_offer_class *a,
                                     const struct wio_offer_class *b)
{
    uint16_t last = a->last < b->last ? a->last : b->last;
    uint16_t first = a->first > b->first ? a->first : b->first;
    if (first == 0 || first > last) {
        return (struct wio_agreed_class){0};
    }
    return (struct wio_agreed_class){.format = last, .features = a->features & b->features};
}

/* The second format is what has room for the attributes. */
static bool has_room(enum wio_message_class class, uint16_t format)
{
    bool has_two = class == WIO_MESSAGE_OBJECT || class == WIO_MESSAGE_TRANSACTION;
    return format >= (has_two ? 2 : 1);
}

struct wio_agreement wio_negotiate(const struct wio_offer *own, const struct wio_offer *peer)
{
    struct wio_agreement agreement;
    for (unsigned i = 0; i < WIO_MESSAGE_CLASS_COUNT; i++) {
        struct wio_agreed_class class = agree(&own->classes[i], &peer->classes[i]);
        if (!has_room((enum wio_message_class)i, class.format)) {
            class.features = 0;
        }
        agreement.classes[i] = class;
    }
    return agreement;
}

uint32_t wio_agreement_features(const struct wio_agreement *agreement)
{
    return agreement->classes[WIO_MESSAGE_OBJECT].features;
}

uint16_t wio_hint_encode(uint64_t wait_ns)
{
    uint64_t units = wait_ns / HINT_UNIT_NS + (wait_ns % HINT_UNIT_NS != 0);
    return units == 0 ? 1 : units > UINT16_MAX ? UINT16_MAX : (uint16_t)units;
}

uint64_t wio_hint_ns(uint16_t hint)
{
    return (uint64_t)hint * HINT_UNIT_NS;
}
