/* SPDX-License-Identifier: Apache-2.0 */
/* Grants as bytes, what they allow, and how many a connection keeps. */
#include "support/unit.h"

#include "store/session/grants.h"

static const struct wio_link_key key = {.bytes = {1, 2, 3}};
static const struct wio_grant grant = {.file = 5, .client = 7, .uid = 1000, .rights = 3};

/* R-GRANT-1 */
static void a_changed_grant_is_none(void **state)
{
    (void)state;
    uint8_t bytes[WIO_GRANT_BYTES];
    struct wio_grant read;
    wio_grant_make(&key, &grant, bytes);
    assert_true(wio_grant_read(&key, bytes, sizeof(bytes), &read));
    assert_memory_equal(&read, &grant, sizeof(read));
    assert_int_equal(bytes[0], 5);
    assert_int_equal(bytes[8], 7);
    assert_int_equal(bytes[20], 3);
    for (unsigned i = 0; i < sizeof(bytes) * 8; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_false(wio_grant_read(&key, bytes, sizeof(bytes), &read));
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_false(wio_grant_read(&key, bytes, sizeof(bytes) - 1, &read));
}

struct need {
    uint16_t op;
    uint16_t flags;
    uint8_t mode;
    uint64_t offset;
    const char *allowed; /* by sets of READ, WRITE, SIZE, DROP: 'y' where it is */
};

/* R-GRANT-3: all sets of rights. */
static void each_operation_needs_its_right(void **state)
{
    (void)state;
    static const struct need needs[] = {
        /* rights     0123456789abcdef */
        {WIO_STORE_READ, 0, 0, 0, "nynynynynynynyny"},
        {WIO_STORE_WRITE, 0, 0, 0, "nnyynnyynnyynnyy"},
        {WIO_STORE_WRITE, WIO_STORE_FLAG_INCREMENT, 0, 0, "nnnynnnynnnynnny"},
        {WIO_STORE_TRUNCATE, 0, 0, 0, "nnyynnyynnyynnyy"},
        {WIO_STORE_SIZE, 0, 0, 0, "nyyyyyyynyyyyyyy"},
        {WIO_STORE_DROP, 0, 0, 0, "nnnnnnnnyyyyyyyy"},
        {WIO_STORE_LOCK, 0, WIO_LOCK_SHARED, 0, "nynynynynynynyny"},
        {WIO_STORE_LOCK, 0, WIO_LOCK_EXCLUSIVE, 0, "nnyynnyynnyynnyy"},
        {WIO_STORE_LOCK, 0, WIO_LOCK_EXCLUSIVE, WIO_GRANT_LOCKS_FROM - 1, "nnyynnyynnyynnyy"},
        {WIO_STORE_LOCK, 0, WIO_LOCK_EXCLUSIVE, WIO_GRANT_LOCKS_FROM, "nyyynyyynyyynyyy"},
        {WIO_STORE_LOCK, 0, WIO_LOCK_SHARED, WIO_GRANT_LOCKS_FROM, "nyyynyyynyyynyyy"},
        {WIO_STORE_UNLOCK, 0, 0, 0, "nyyynyyynyyynyyy"},
        {WIO_STORE_POINTER, 0, 0, 0, "nyyynyyynyyynyyy"},
        {WIO_STORE_STATFS, 0, 0, 0, "yyyyyyyyyyyyyyyy"},
        {WIO_STORE_COMMIT, 0, 0, 0, "yyyyyyyyyyyyyyyy"},
    };
    for (unsigned i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        const struct wio_store_request request = {.op = needs[i].op,
                                                  .flags = needs[i].flags,
                                                  .mode = needs[i].mode,
                                                  .offset = needs[i].offset};
        for (uint32_t rights = 0; rights < 16; rights++) {
            assert_int_equal(wio_grant_allows(rights, &request), needs[i].allowed[rights] == 'y');
        }
    }
}

/* R-GRANT-2: rights add up, and those that were used last stay. */
static void grants_that_are_used_are_kept(void **state)
{
    (void)state;
    struct wio_shown grants = {0};
    struct wio_grant more = {.file = 1, .rights = WIO_GRANT_READ};
    assert_int_equal(wio_shown_add(&grants, &more), WIO_OK);
    more.rights = WIO_GRANT_WRITE;
    assert_int_equal(wio_shown_add(&grants, &more), WIO_OK);
    for (uint64_t file = 2; file < UINT64_C(10) * WIO_GRANTS_KEPT; file++) {
        more.file = file;
        assert_int_equal(wio_shown_add(&grants, &more), WIO_OK);
        if (file % 1000 == 0) {
            assert_int_equal(wio_shown_get(&grants, 1), WIO_GRANT_READ | WIO_GRANT_WRITE);
        }
    }
    assert_int_equal(wio_shown_get(&grants, more.file - WIO_GRANTS_KEPT + 20), WIO_GRANT_WRITE);
    assert_int_equal(wio_shown_get(&grants, 2), 0);
    assert_true(grants.rights.hash.count + grants.older.hash.count <= 2 * WIO_GRANTS_KEPT);
    wio_shown_fini(&grants);
}

int main(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_grant_is_none),
        cmocka_unit_test(each_operation_needs_its_right),
        cmocka_unit_test(grants_that_are_used_are_kept),
    };
    if (wio_link_keys_begin(&err) != WIO_OK) {
        return 77; /* built without libsodium */
    }
    return WIO_RUN(tests);
}
