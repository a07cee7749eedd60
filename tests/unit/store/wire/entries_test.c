/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/wire/entries.h"

static struct wio_wire_entry named(const char *name, size_t size)
{
    return (struct wio_wire_entry){.cookie = 9,
                                   .stat = {.file = 4, .mode = 0100644, .mtime_ns = -5},
                                   .name = name,
                                   .name_size = (uint32_t)size};
}

/* R-WIRE-15 */
static void entries_come_as_they_were_put(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    struct wio_wire_entry got;
    struct wio_wire_entry first = named("a", 1);
    struct wio_wire_entry second = named("...", 3);
    second.cookie = UINT64_MAX;
    assert_int_equal(wio_wire_put_entry(&blob, &first), WIO_OK);
    assert_int_equal(wio_wire_put_entry(&blob, &second), WIO_OK);
    struct wio_buf data = wio_buf_of(blob.data, blob.size);
    assert_int_equal(wio_wire_get_entry(&data, &got), WIO_OK);
    assert_int_equal(got.cookie, 9);
    assert_int_equal(got.stat.file, 4);
    assert_int_equal(got.stat.mtime_ns, -5);
    assert_int_equal(got.name_size, 1);
    assert_int_equal(wio_wire_get_entry(&data, &got), WIO_OK);
    assert_int_equal(got.cookie, UINT64_MAX);
    assert_memory_equal(got.name, "...", 3);
    assert_int_equal(wio_wire_get_entry(&data, &got), WIO_END);
    wio_blob_fini(&blob);
}

/* R-WIRE-15: what a name may lead out of a directory by. */
static void names_lead_nowhere(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t size;
    } bad[] = {{"", 0}, {".", 1}, {"..", 2}, {"a/b", 3}, {"/", 1}, {"a\0b", 3}};
    struct wio_blob blob = {0};
    struct wio_wire_entry entry;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        entry = named(bad[i].name, bad[i].size);
        assert_int_equal(wio_wire_put_entry(&blob, &entry), WIO_ERR_USAGE);
    }
    char name[256];
    memset(name, 'x', sizeof(name));
    entry = named(name, 256);
    assert_int_equal(wio_wire_put_entry(&blob, &entry), WIO_ERR_USAGE);
    entry = named("xy", 2);
    assert_int_equal(wio_wire_put_entry(&blob, &entry), WIO_OK);
    memcpy(blob.data + blob.size - 2, "..", 2);
    struct wio_buf data = wio_buf_of(blob.data, blob.size);
    assert_int_equal(wio_wire_get_entry(&data, &entry), WIO_ERR_FORMAT);
    memcpy(blob.data + blob.size - 2, "/x", 2);
    data = wio_buf_of(blob.data, blob.size);
    assert_int_equal(wio_wire_get_entry(&data, &entry), WIO_ERR_FORMAT);
    wio_blob_fini(&blob);
}

static void cut_entries_are_refused(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    struct wio_wire_entry entry = named("name", 4);
    assert_int_equal(wio_wire_put_entry(&blob, &entry), WIO_OK);
    for (size_t size = 1; size < blob.size; size++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, blob.data, size);
        struct wio_buf data = wio_buf_of(copy, size);
        assert_true(wio_wire_get_entry(&data, &entry) < 0);
        free(copy);
    }
    memset(blob.data, 0, 8);
    struct wio_buf data = wio_buf_of(blob.data, blob.size);
    assert_int_equal(wio_wire_get_entry(&data, &entry), WIO_ERR_FORMAT); /* cookie 0 */
    wio_blob_fini(&blob);
}

/* R-WIRE-16 */
static void targets_are_addresses(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:/a", "h:1"};
    const char *got[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_blob blob = {0};
    uint16_t count = 0;
    assert_int_equal(wio_wire_put_targets(&blob, addresses, 2), WIO_OK);
    assert_int_equal(wio_wire_get_targets(blob.data, blob.size, got, &count), WIO_OK);
    assert_int_equal(count, 2);
    assert_string_equal(got[0], "unix:/a");
    assert_string_equal(got[1], "h:1");
    assert_int_equal(wio_wire_get_targets(blob.data, blob.size - 1, got, &count), WIO_ERR_FORMAT);
    assert_int_equal(wio_wire_get_targets(blob.data, 0, got, &count), WIO_ERR_FORMAT);
    assert_int_equal(wio_wire_get_targets("\0", 1, got, &count), WIO_ERR_FORMAT);
    assert_int_equal(wio_wire_put_targets(&blob, addresses, 0), WIO_ERR_USAGE);
    wio_blob_clear(&blob);
    for (unsigned i = 0; i < WIO_STORE_PARTICIPANTS_MAX + 1; i++) {
        assert_int_equal(wio_blob_put(&blob, "a", 2), WIO_OK);
    }
    assert_int_equal(wio_wire_get_targets(blob.data, blob.size, got, &count), WIO_ERR_FORMAT);
    assert_int_equal(wio_wire_get_targets(blob.data, blob.size - 2, got, &count), WIO_OK);
    assert_int_equal(count, WIO_STORE_PARTICIPANTS_MAX);
    wio_blob_fini(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_as_they_were_put),
        cmocka_unit_test(names_lead_nowhere),
        cmocka_unit_test(cut_entries_are_refused),
        cmocka_unit_test(targets_are_addresses),
    };
    return WIO_RUN(tests);
}
