/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "base/cleanup.h"
#include "predict/whatif.h"

static enum wio_model_method forced(enum wio_predict_force sync, enum wio_predict_force direct,
                                    enum wio_model_method method)
{
    const struct wio_predict_whatif whatif = {.sync = sync, .direct = direct};
    return wio_whatif_method(&whatif, method);
}

/* What is forced changes, the rest of a write stays. */
static void sync_and_direct_are_two_things(void **state)
{
    (void)state;
    enum { IS = WIO_PREDICT_AS_IS, ON = WIO_PREDICT_ON, OFF = WIO_PREDICT_OFF };
    enum {
        CACHED = WIO_MODEL_WRITE,
        SYNC = WIO_MODEL_SYNC,
        NOSYNC = WIO_MODEL_DIRECT_NOSYNC,
        BOTH = WIO_MODEL_DIRECT
    };
    static const int before[] = {CACHED, SYNC, NOSYNC, BOTH};
    static const struct {
        int sync;
        int direct;
        int after[4];
    } cases[] = {
        {IS, IS, {CACHED, SYNC, NOSYNC, BOTH}},      {ON, IS, {SYNC, SYNC, BOTH, BOTH}},
        {OFF, IS, {CACHED, CACHED, NOSYNC, NOSYNC}}, {IS, ON, {NOSYNC, BOTH, NOSYNC, BOTH}},
        {IS, OFF, {CACHED, SYNC, CACHED, SYNC}},     {ON, ON, {BOTH, BOTH, BOTH, BOTH}},
        {ON, OFF, {SYNC, SYNC, SYNC, SYNC}},         {OFF, OFF, {CACHED, CACHED, CACHED, CACHED}},
        {OFF, ON, {NOSYNC, NOSYNC, NOSYNC, NOSYNC}},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        for (size_t k = 0; k < WIO_ARRAY_SIZE(before); k++) {
            assert_int_equal(forced((enum wio_predict_force)cases[i].sync,
                                    (enum wio_predict_force)cases[i].direct,
                                    (enum wio_model_method)before[k]),
                             cases[i].after[k]);
        }
    }
}

static void other_operations_stay(void **state)
{
    (void)state;
    static const enum wio_model_method others[] = {
        WIO_MODEL_FWRITE, WIO_MODEL_FFLUSH,      WIO_MODEL_FSYNC,
        WIO_MODEL_READ,   WIO_MODEL_READ_DIRECT, WIO_MODEL_TRUNCATE,
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(others); i++) {
        assert_int_equal(forced(WIO_PREDICT_ON, WIO_PREDICT_ON, others[i]), others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync_and_direct_are_two_things),
        cmocka_unit_test(other_operations_stay),
    };
    return WIO_RUN(tests);
}
