/* SPDX-License-Identifier: Apache-2.0 */
/* A memory group bounds what its tasks have in memory, and what of that is dirty. */
#include "machine.h"

#include "model/kernel/group.h"

static struct wio_model_params group(double version, double limit)
{
    struct wio_model_params params = machine();
    params.mem_bytes = 4096 * MIB; /* of which 1/8 may be dirty, and 1/32 in the background */
    params.group_version = version;
    params.group_limit = limit;
    return params;
}

static void version_2_has_limits_of_its_own(void **state)
{
    (void)state;
    struct wio_model_params params = group(2, 256 * MIB);
    struct wio_group_limits limits = wio_group_limits(&params);
    assert_near(limits.hard, 32 * MIB, 1);
    assert_near(limits.background, 8 * MIB, 1);
    params.group_used = 128 * MIB;
    assert_near(wio_group_limits(&params).hard, 16 * MIB, 1);
    assert_near(wio_group_room(&params), 128 * MIB, 1);
    params.group_used = 400 * MIB; /* more than there is: something is left all the same */
    assert_near(wio_group_room(&params), WIO_GROUP_LEAST, 1);
    params = group(2, 64 * 1024 * MIB); /* the machine's are lower */
    assert_near(wio_group_limits(&params).hard, 512 * MIB, 1);
    params = group(2, 256 * MIB);
    params.mem_bytes = WIO_MODEL_UNLIMITED; /* a fifth and a tenth are the kernel's */
    assert_near(wio_group_limits(&params).hard, 51.2 * MIB, 1);
    assert_near(wio_group_limits(&params).background, 25.6 * MIB, 1);
}

static void version_1_has_the_machine_s(void **state)
{
    (void)state;
    struct wio_model_params params = group(1, 64 * MIB);
    assert_near(wio_group_limits(&params).hard, 512 * MIB, 1);
    assert_near(wio_group_dirty_room(&params), 64 * MIB, 1);
    assert_near(wio_group_room(&params), 64 * MIB, 1);
    params.group_version = 2;
    assert_true(wio_group_dirty_room(&params) >= WIO_MODEL_UNLIMITED);
}

/* What of 400 MiB is written, and how much is dirty at the most. */
static double write_400(const struct wio_model_params *params, double *dirty_out)
{
    struct wio_model *model = create(params);
    double cost_s = 0;
    *dirty_out = 0;
    for (uint64_t i = 0; i < 200; i++) {
        struct wio_model_result result = write_at(model, i, 2 * MIB_BYTES);
        cost_s += result.cost_s;
        *dirty_out = fmax(*dirty_out, result.dirty_bytes);
    }
    wio_model_destroy(model);
    return cost_s;
}

static void a_full_group_waits_for_the_device(void **state)
{
    (void)state;
    double dirty;
    struct wio_model_params params = group(1, WIO_MODEL_UNLIMITED);
    params.limit_bg = 1024 * MIB; /* nothing is written in the background */
    params.limit_hard = 2048 * MIB;
    assert_true(write_400(&params, &dirty) < 0.2); /* at the speed of memory */
    params.group_limit = 100 * MIB;
    double cost_s = write_400(&params, &dirty);
    /* 100 MiB fit, and 300 MiB take their time on the device, which began when they did not */
    assert_near(cost_s, 3.0, 0.2);
    assert_true(dirty <= 102 * MIB);
    params.group_used = 50 * MIB;
    assert_near(write_400(&params, &dirty), 3.5, 0.2);
    assert_true(dirty <= 52 * MIB);
}

static void a_group_of_version_2_is_throttled(void **state)
{
    (void)state;
    double dirty;
    struct wio_model_params params = group(2, 256 * MIB);
    double cost_s = write_400(&params, &dirty);
    assert_true(dirty <= 32 * MIB);
    assert_near(cost_s, (400 - 32) / 100.0, 0.5);
}

/* What has left the group's memory is read from the device again. */
static void reads_find_what_the_group_has_room_for(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++) {
        struct wio_model_params params = group(version, 64 * MIB);
        struct wio_model *model = create(&params);
        double first_s = 0;
        double second_s = 0;
        for (uint64_t i = 0; i < 64; i++) {
            first_s += step(model, (struct wio_model_op){.offset = i * MIB_BYTES * 2,
                                                         .size = 2 * MIB_BYTES,
                                                         .method = WIO_MODEL_READ})
                           .cost_s;
        }
        for (uint64_t i = 0; i < 64; i++) {
            second_s += step(model, (struct wio_model_op){.offset = i * MIB_BYTES * 2,
                                                          .size = 2 * MIB_BYTES,
                                                          .method = WIO_MODEL_READ})
                            .cost_s;
        }
        assert_near(first_s, 1.28, 0.1);
        assert_near(second_s, first_s, 0.1);
        wio_model_destroy(model);
    }
}

static void its_parameters_are_checked(void **state)
{
    (void)state;
    static const double versions[] = {0, 3};
    for (size_t i = 0; i < 2; i++) {
        struct wio_model_params params = group(versions[i], 64 * MIB);
        struct wio_error err = WIO_ERROR_INIT;
        assert_status(wio_model_params_check_for(WIO_MODEL_KERNEL, &params, &err), WIO_ERR_USAGE,
                      &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_has_limits_of_its_own),
        cmocka_unit_test(version_1_has_the_machine_s),
        cmocka_unit_test(a_full_group_waits_for_the_device),
        cmocka_unit_test(a_group_of_version_2_is_throttled),
        cmocka_unit_test(reads_find_what_the_group_has_room_for),
        cmocka_unit_test(its_parameters_are_checked),
    };
    return WIO_RUN(tests);
}
