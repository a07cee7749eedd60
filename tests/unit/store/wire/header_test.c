/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bytes in front of each message: the layout of docs/STORE-PROTOCOL.md, byte by byte. */
#include "support/unit.h"

#include <string.h>

#include "base/crc.h"
#include "store/wire/header.h"

static struct wio_wire_header sample(void)
{
    return (struct wio_wire_header){
        .kind = WIO_STORE_WRITE,
        .flags = WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_REJECT,
        .hint = 0x1234,
        .body_bytes = 0x00010203,
        .number = UINT64_C(0x1112131415161718),
        .txn = {.client = UINT64_C(0x4142434445464748),
                .number = UINT64_C(0x2122232425262728),
                .birth_ns = UINT64_C(0x3132333435363738),
                .attempt = 0x51525354},
        .source = 0x61626364,
        .body_crc = 0x71727374,
    };
}

static enum wio_status get(const uint8_t *bytes, size_t size, struct wio_wire_header *header)
{
    return wio_wire_header_get(wio_buf_of(bytes, size), header);
}

/* R-WIRE-1 */
static void has_the_documented_layout(void **state)
{
    (void)state;
    static const uint8_t expected[60] = {
        0x57, 0x49, 0x4f, 0x53, 0x01, 0x00, 0x11, 0x00, 0x03, 0x02, 0x01, 0x00, 0x09, 0x00, 0x34,
        0x12, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x48, 0x47, 0x46, 0x45, 0x44, 0x43,
        0x42, 0x41, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x38, 0x37, 0x36, 0x35, 0x34,
        0x33, 0x32, 0x31, 0x54, 0x53, 0x52, 0x51, 0x64, 0x63, 0x62, 0x61, 0x74, 0x73, 0x72, 0x71,
    };
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    struct wio_wire_header header = sample();
    struct wio_wire_header back;
    wio_wire_header_put(&header, bytes);
    assert_memory_equal(bytes, expected, sizeof(expected));
    assert_int_equal(get(bytes, sizeof(bytes), &back), WIO_OK);
    assert_int_equal(back.hint, header.hint);
    assert_int_equal(back.txn.attempt, header.txn.attempt);
    uint8_t again[WIO_WIRE_HEADER_BYTES];
    wio_wire_header_put(&back, again);
    assert_memory_equal(again, bytes, sizeof(again));
}

/* R-WIRE-2: a CRC finds each changed bit. */
static void refuses_each_changed_bit(void **state)
{
    (void)state;
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    struct wio_wire_header header = sample();
    wio_wire_header_put(&header, bytes);
    for (unsigned bit = 0; bit < 8 * sizeof(bytes); bit++) {
        struct wio_wire_header back;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(get(bytes, sizeof(bytes), &back), WIO_ERR_FORMAT);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void refuses_what_is_cut_short(void **state)
{
    (void)state;
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    struct wio_wire_header header = sample();
    struct wio_wire_header back;
    wio_wire_header_put(&header, bytes);
    for (size_t size = 0; size < sizeof(bytes); size++) {
        assert_int_equal(get(bytes, size, &back), WIO_ERR_TRUNCATED);
    }
}

/* A header that says this, with a CRC that fits. */
static enum wio_status judge(struct wio_wire_header header, uint8_t version)
{
    uint8_t bytes[WIO_WIRE_HEADER_BYTES];
    struct wio_wire_header back;
    wio_wire_header_put(&header, bytes);
    bytes[4] = version;
    uint32_t crc = wio_crc32c(0, bytes, 60);
    for (unsigned i = 0; i < 4; i++) {
        bytes[60 + i] = (uint8_t)(crc >> 8 * i);
    }
    return get(bytes, sizeof(bytes), &back);
}

/* R-WIRE-3 */
static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    struct wio_wire_header header = sample();
    assert_int_equal(judge(header, 1), WIO_OK);
    assert_int_equal(judge(header, 2), WIO_ERR_UNSUPPORTED);
    header.flags = 1 << 14;
    assert_int_equal(judge(header, 1), WIO_ERR_FORMAT);
    header = sample();
    header.kind = 0;
    assert_int_equal(judge(header, 1), WIO_ERR_FORMAT);
    header.kind = WIO_WIRE_CLASSES * WIO_WIRE_CLASS_KINDS;
    assert_int_equal(judge(header, 1), WIO_ERR_FORMAT);
    header = sample();
    header.body_bytes = WIO_WIRE_BODY_MAX;
    assert_int_equal(judge(header, 1), WIO_OK);
    header.body_bytes++;
    assert_int_equal(judge(header, 1), WIO_ERR_FORMAT);
}

/* R-WIRE-4 */
static void checks_the_body(void **state)
{
    (void)state;
    const uint8_t body[] = "123456789";
    struct wio_wire_header header = {.body_bytes = 9, .body_crc = 0xe3069283};
    assert_int_equal(wio_wire_body_check(&header, wio_buf_of(body, 9)), WIO_OK);
    assert_int_equal(wio_wire_body_check(&header, wio_buf_of(body, 8)), WIO_ERR_FORMAT);
    header.body_crc++;
    assert_int_equal(wio_wire_body_check(&header, wio_buf_of(body, 9)), WIO_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_documented_layout),
        cmocka_unit_test(refuses_each_changed_bit),
        cmocka_unit_test(refuses_what_is_cut_short),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(checks_the_body),
    };
    return WIO_RUN(tests);
}
