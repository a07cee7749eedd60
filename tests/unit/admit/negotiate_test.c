/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "admit/negotiate.h"

static void equals_agree_on_the_newest(void **state)
{
    (void)state;
    struct wio_offer own = wio_offer_own();
    struct wio_agreement agreement = wio_negotiate(&own, &own);
    assert_int_equal(agreement.classes[WIO_MESSAGE_OBJECT].format, 2);
    assert_int_equal(agreement.classes[WIO_MESSAGE_CATALOGUE].format, 1);
    assert_int_equal(wio_agreement_features(&agreement), WIO_ADMIT_FEATURES);
}

static void old_peers_have_no_features_either_way(void **state)
{
    (void)state;
    struct wio_offer own = wio_offer_own();
    struct wio_offer old = wio_offer_old();
    struct wio_agreement to_old = wio_negotiate(&own, &old);
    struct wio_agreement from_old = wio_negotiate(&old, &own);
    assert_memory_equal(&to_old, &from_old, sizeof(to_old));
    assert_int_equal(to_old.classes[WIO_MESSAGE_OBJECT].format, 1);
    assert_int_equal(wio_agreement_features(&to_old), 0);
}

static void classes_change_one_by_one(void **state)
{
    (void)state;
    struct wio_offer own = wio_offer_own();
    struct wio_offer later = wio_offer_own();
    later.classes[WIO_MESSAGE_OBJECT] = (struct wio_offer_class){2, 5, UINT32_MAX};
    later.classes[WIO_MESSAGE_CONTROL] = (struct wio_offer_class){3, 4, UINT32_MAX};
    struct wio_agreement agreement = wio_negotiate(&own, &later);
    assert_int_equal(agreement.classes[WIO_MESSAGE_OBJECT].format, 2);
    assert_int_equal(agreement.classes[WIO_MESSAGE_OBJECT].features, WIO_ADMIT_FEATURES);
    assert_int_equal(agreement.classes[WIO_MESSAGE_CONTROL].format, 0);
    assert_int_equal(agreement.classes[WIO_MESSAGE_CONTROL].features, 0);
    later.classes[WIO_MESSAGE_OBJECT] = (struct wio_offer_class){0, 0, 1};
    agreement = wio_negotiate(&own, &later);
    assert_int_equal(agreement.classes[WIO_MESSAGE_OBJECT].format, 0);
}

/* Features in the first format have no room: a peer that claims them has them not. */
static void features_need_the_format(void **state)
{
    (void)state;
    struct wio_offer own = wio_offer_own();
    struct wio_offer half = wio_offer_old();
    half.classes[WIO_MESSAGE_OBJECT].features = WIO_ADMIT_FEATURES;
    struct wio_agreement agreement = wio_negotiate(&own, &half);
    assert_int_equal(wio_agreement_features(&agreement), 0);
}

static void hints_have_16_bits(void **state)
{
    (void)state;
    assert_int_equal(wio_hint_encode(0), 1);
    assert_int_equal(wio_hint_encode(1), 1);
    assert_int_equal(wio_hint_encode(1000000), 1);
    assert_int_equal(wio_hint_encode(1000001), 2);
    assert_int_equal(wio_hint_encode(UINT64_MAX), UINT16_MAX);
    assert_int_equal(wio_hint_ns(250), 250000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_agree_on_the_newest),
        cmocka_unit_test(old_peers_have_no_features_either_way),
        cmocka_unit_test(classes_change_one_by_one),
        cmocka_unit_test(features_need_the_format),
        cmocka_unit_test(hints_have_16_bits),
    };
    return WIO_RUN(tests);
}
