/* SPDX-License-Identifier: Apache-2.0 */
/* Stripe layouts of Lustre (R-FILE-1, R-FILE-2), byte by byte as its public header has them. */
#include "support/unit.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "seal/lov.h"

struct bytes {
    uint8_t data[4096];
    size_t size;
};

static void put(struct bytes *bytes, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes->data[bytes->size++] = (uint8_t)(value >> (8 * i));
    }
}

/* struct lov_user_md_v1, or _v3 with `pool`, and an object for each stripe. */
static void put_layout(struct bytes *bytes, uint32_t stripe_size, uint16_t stripes,
                       const char *pool, uint32_t pattern)
{
    put(bytes, pool != NULL ? 0x0bd30bd0 : 0x0bd10bd0, 4);
    put(bytes, pattern, 4);
    put(bytes, 0x1234, 8); /* object id .. */
    put(bytes, 0x200000401, 8);
    put(bytes, stripe_size, 4);
    put(bytes, stripes, 2);
    put(bytes, 0, 2);
    if (pool != NULL) {
        char name[16] = "";
        (void)strncpy(name, pool, sizeof(name) - 1);
        for (size_t i = 0; i < sizeof(name); i++) {
            put(bytes, (uint8_t)name[i], 1);
        }
    }
    for (unsigned i = 0; stripes != 0xffff && i < stripes; i++) {
        put(bytes, 77 + i, 8);
        put(bytes, 0, 8);
        put(bytes, 0, 4);
        put(bytes, i, 4);
    }
}

#define HEAD 32u
#define ENTRY 48u

/* struct lov_comp_md_v1 with its entries; layouts follow at `offsets`. */
static void put_head(struct bytes *bytes, uint16_t count, uint16_t mirrors)
{
    put(bytes, 0x0bd60bd0, 4);
    put(bytes, 0, 4); /* size .. */
    put(bytes, 3, 4);
    put(bytes, 0, 2);
    put(bytes, count, 2);
    put(bytes, mirrors, 2);
    put(bytes, 0, 8);
    put(bytes, 0, 6);
}

static void put_entry(struct bytes *bytes, uint32_t id, uint64_t begin, uint64_t end,
                      uint32_t offset, uint32_t size)
{
    put(bytes, id, 4);
    put(bytes, 0x10, 4);
    put(bytes, begin, 8);
    put(bytes, end, 8);
    put(bytes, offset, 4);
    put(bytes, size, 4);
    put(bytes, 3, 4);
    put(bytes, 0, 8);
    put(bytes, 0, 4);
}

static void expect(const struct bytes *bytes, const char *wanted)
{
    char text[WIO_LOV_TEXT];

    assert_int_equal(wio_lov_describe(bytes->data, bytes->size, true, text), WIO_OK);
    assert_string_equal(text, wanted);
}

static void version_1(void **state)
{
    struct bytes bytes = {.size = 0};

    (void)state;
    put_layout(&bytes, 1 << 20, 4, NULL, 1);
    assert_int_equal(bytes.size, 32 + 4 * 24);
    expect(&bytes, "stripe_count=4 stripe_size=1048576");
}

static void version_3_has_a_pool(void **state)
{
    struct bytes bytes = {.size = 0};
    char text[WIO_LOV_TEXT];

    (void)state;
    put_layout(&bytes, 4 << 20, 2, "flash", 1);
    assert_int_equal(bytes.size, 48 + 2 * 24);
    expect(&bytes, "stripe_count=2 stripe_size=4194304 pool=flash");
    assert_int_equal(wio_lov_describe(bytes.data, bytes.size, false, text), WIO_OK);
    assert_string_equal(text, "stripe_count=2 stripe_size=4194304");
}

static void a_pool_is_any_bytes(void **state)
{
    struct bytes bytes = {.size = 0};

    (void)state;
    put_layout(&bytes, 65536, 0xffff, "a\nb;c d\x1b", 0x80000001u);
    expect(&bytes, "stripe_count=all stripe_size=65536 pool=a?b?c?d? released");
}

static void a_composite_layout(void **state)
{
    struct bytes bytes = {.size = 0};
    uint32_t first = HEAD + 3 * ENTRY;

    (void)state;
    put_head(&bytes, 3, 0);
    put_entry(&bytes, 1, 0, 1 << 20, first, 32);
    put_entry(&bytes, 2, 1 << 20, 64 << 20, first + 32, 32 + 24);
    put_entry(&bytes, 3, 64 << 20, UINT64_MAX, first + 88, 48 + 8 * 24);
    assert_int_equal(bytes.size, first);
    put_layout(&bytes, 1 << 20, 0, NULL, 0x100);
    put_layout(&bytes, 1 << 20, 1, NULL, 1);
    put_layout(&bytes, 4 << 20, 8, "disk", 1);
    expect(&bytes, "from=0 to=1048576 mdt stripe_size=1048576; "
                   "from=1048576 to=67108864 stripe_count=1 stripe_size=1048576; "
                   "from=67108864 to=eof stripe_count=8 stripe_size=4194304 pool=disk");
}

static void mirrors_are_told_apart(void **state)
{
    struct bytes bytes = {.size = 0};
    uint32_t first = HEAD + 2 * ENTRY;

    (void)state;
    put_head(&bytes, 2, 1);
    put_entry(&bytes, 1 << 16 | 1, 0, UINT64_MAX, first, 32);
    put_entry(&bytes, 2 << 16 | 2, 0, UINT64_MAX, first + 32, 32);
    put_layout(&bytes, 65536, 0, NULL, 1);
    put_layout(&bytes, 65536, 0, NULL, 1);
    expect(&bytes, "from=0 to=eof mirror=1 stripe_count=0 stripe_size=65536; "
                   "from=0 to=eof mirror=2 stripe_count=0 stripe_size=65536");
}

static void many_components_are_cut(void **state)
{
    struct bytes bytes = {.size = 0};
    char text[WIO_LOV_TEXT];
    const unsigned count = WIO_LOV_COMPONENTS + 1;

    (void)state;
    put_head(&bytes, (uint16_t)count, 0);
    for (unsigned i = 0; i < count; i++) {
        put_entry(&bytes, i, i, i + 1, HEAD + count * ENTRY, 32);
    }
    put_layout(&bytes, 65536, 1, NULL, 1);
    assert_int_equal(wio_lov_describe(bytes.data, bytes.size, true, text), WIO_OK);
    assert_string_equal(text + strlen(text) - 4, "; ..");
}

/* Each shorter one is refused, wherever it ends; and what points outside. */
static void what_is_cut_or_points_outside_is_none(void **state)
{
    struct bytes bytes = {.size = 0};
    uint32_t first = HEAD + ENTRY;
    char text[WIO_LOV_TEXT];

    (void)state;
    put_head(&bytes, 1, 0);
    put_entry(&bytes, 1, 0, UINT64_MAX, first, 48);
    put_layout(&bytes, 4 << 20, 0, "disk", 1);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_not_equal(wio_lov_describe(bytes.data, size, true, text), WIO_OK);
        assert_string_equal(text, "");
    }
    const uint32_t wrong[][2] = {
        {first, UINT32_MAX}, {UINT32_MAX, 48}, {first + 1, 48}, {first, 47}};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(wrong); i++) {
        struct bytes other = {.size = 0};
        put_head(&other, 1, 0);
        put_entry(&other, 1, 0, UINT64_MAX, wrong[i][0], wrong[i][1]);
        put_layout(&other, 4 << 20, 0, "disk", 1);
        assert_int_not_equal(wio_lov_describe(other.data, other.size, true, text), WIO_OK);
        assert_string_equal(text, "");
    }
}

static void another_kind_is_not_known(void **state)
{
    const uint8_t foreign[] = {0xd0, 0x0b, 0xd7, 0x0b, 0, 0, 0, 0};
    char text[WIO_LOV_TEXT];

    (void)state;
    assert_int_equal(wio_lov_describe(foreign, sizeof(foreign), true, text), WIO_ERR_UNSUPPORTED);
    wio_lov_of_file("/", true, text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1),
        cmocka_unit_test(version_3_has_a_pool),
        cmocka_unit_test(a_pool_is_any_bytes),
        cmocka_unit_test(a_composite_layout),
        cmocka_unit_test(mirrors_are_told_apart),
        cmocka_unit_test(many_components_are_cut),
        cmocka_unit_test(what_is_cut_or_points_outside_is_none),
        cmocka_unit_test(another_kind_is_not_known),
    };
    return WIO_RUN(tests);
}
