/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "support/unit.h"

#include "admit/admit.h"

static void refuse(struct wio_admit_settings settings, const char *name)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_admit_settings_check(&settings, &err), WIO_ERR_USAGE, NULL);
    if (strstr(err.message, name) == NULL) {
        fail_msg("'%s' does not name %s", err.message, name);
    }
}

#define REFUSE(member, value)                                                                      \
    do {                                                                                           \
        struct wio_admit_settings changed = wio_admit_settings_default();                          \
        changed.member = value;                                                                    \
        refuse(changed, #member);                                                                  \
    } while (0)

static void says_what_is_wrong(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_admit_settings settings = wio_admit_settings_default();
    assert_ok(wio_admit_settings_check(&settings, &err), &err);
    REFUSE(struct_size, 8);
    REFUSE(kind, WIO_ADMIT_KIND_COUNT);
    REFUSE(shards, 0);
    REFUSE(workers, 0);
    REFUSE(memory_bytes, 1000);
    REFUSE(reserve_bytes, settings.memory_bytes);
    REFUSE(queue_total, UINT32_MAX);
    REFUSE(tenants_max, 0);
    REFUSE(timeout_ns, 0);
    REFUSE(turn, 0);
    REFUSE(increase, NAN);
    REFUSE(decrease, -1);
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WIO_ADMIT_KIND_COUNT; i++) {
        enum wio_admit_kind kind = (enum wio_admit_kind)i;
        assert_int_equal(wio_admit_kind_find(wio_admit_kind_name(kind)), kind);
    }
    for (unsigned i = 0; i < WIO_ADMIT_BY_COUNT; i++) {
        enum wio_admit_tenant_by by = (enum wio_admit_tenant_by)i;
        assert_int_equal(wio_admit_tenant_find(wio_admit_tenant_name(by)), by);
    }
    assert_int_equal(wio_admit_kind_find("nothing"), WIO_ADMIT_KIND_COUNT);
    assert_string_equal(wio_admit_reason_name(WIO_ADMIT_REASON_QUEUE_HALF), "half");
}

/* In flight: memory / 16 KiB, of what the reserve and the queue leave. */
static void limits_come_from_memory(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.memory_bytes = 20 << 20;
    settings.reserve_bytes = 4 << 20;
    struct wio_admit_total *total;
    struct wio_admit *shard;
    assert_ok(wio_admit_total_create(&settings, &WIO_ALLOC_HEAP, &total, &err), &err);
    assert_ok(wio_admit_create(total, &WIO_ALLOC_HEAP, &shard, &err), &err);
    struct wio_admit_gauges gauges;
    wio_admit_gauges(shard, &gauges);
    assert_int_equal(gauges.queue_limit, (16 << 20) / 8 / 1024);
    assert_int_equal(gauges.in_flight_limit, (14 << 20) / 16384);
    assert_int_equal(gauges.reserve_bytes, 4 << 20);
    wio_admit_destroy(shard);
    wio_admit_total_destroy(total);
}

static void reserves_follow_the_log(void **state)
{
    (void)state;
    uint64_t log_bytes = (uint64_t)64 << 20;
    assert_int_equal(wio_admit_reserve_bytes(WIO_ADMIT_LOG_MEMORY, log_bytes, 10, 16384), 163840);
    assert_int_equal(wio_admit_reserve_bytes(WIO_ADMIT_LOG_OWN, log_bytes, 10, 16384),
                     163840 + (1 << 20));
    assert_int_equal(wio_admit_reserve_bytes(WIO_ADMIT_LOG_SQLITE, log_bytes, 0, 16384),
                     (2 << 20) + (128 << 10));
}

static void space_has_four_classes(void **state)
{
    (void)state;
    assert_int_equal(wio_admit_space_class(20, 100, 100, 100), 0);
    assert_int_equal(wio_admit_space_class(19, 100, 100, 100), 1);
    assert_int_equal(wio_admit_space_class(100, 100, 9, 100), 2);
    assert_int_equal(wio_admit_space_class(4, 100, 100, 100), 3);
    assert_int_equal(wio_admit_space_class(0, 0, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_wrong),      cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(limits_come_from_memory), cmocka_unit_test(reserves_follow_the_log),
        cmocka_unit_test(space_has_four_classes),
    };
    return WIO_RUN(tests);
}
