/* SPDX-License-Identifier: Apache-2.0 */
/* Every container when memory runs out at any moment: the status says so, nothing is lost. */
#include "support/unit.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/map.h"
#include "support/alloc.h"

static enum wio_status fill_blob(void *arg)
{
    (void)arg;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    for (uint32_t i = 0; i < 2000; i++) {
        size_t before = blob.size;
        enum wio_status status = wio_blob_u64(&blob, i);
        if (status != WIO_OK) {
            assert_int_equal(blob.size, before);
            return status;
        }
    }
    return WIO_OK;
}

static enum wio_status fill_map(void *arg)
{
    (void)arg;
    WIO_CLEANUP(wio_map_fini) struct wio_map map = {0};
    for (uint64_t key = 0; key < 2000; key++) {
        enum wio_status status = wio_map_put(&map, key, key);
        if (status != WIO_OK) {
            assert_int_equal(map.hash.count, key);
            assert_true(key == 0 || *wio_map_get(&map, key - 1) == key - 1);
            assert_ok(wio_map_put(&map, key, key), NULL); /* there is memory again */
            return status;
        }
    }
    return WIO_OK;
}

static enum wio_status fill_strtab(void *arg)
{
    (void)arg;
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab table = {0};
    for (uint32_t i = 1; i <= 500; i++) {
        char text[16];
        uint32_t id = 0;
        size_t bytes = (size_t)snprintf(text, sizeof(text), "text %u", i);
        enum wio_status status = wio_strtab_add(&table, text, bytes, &id);
        if (status != WIO_OK) {
            assert_int_equal(table.count, i - 1);
            assert_int_equal(wio_strtab_find(&table, text, bytes), 0);
            assert_ok(wio_strtab_add(&table, text, bytes, &id), NULL);
            assert_int_equal(id, i);
            return status;
        }
    }
    return WIO_OK;
}

static enum wio_status read_file(void *arg)
{
    struct wio_error *err = arg;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    return wio_io_read_file("/proc/self/status", 1 << 20, &blob, err);
}

static void blobs(void **state)
{
    (void)state;
    assert_true(wio_alloc_every_failure(fill_blob, NULL) >= 8);
}

static void maps(void **state)
{
    (void)state;
    assert_true(wio_alloc_every_failure(fill_map, NULL) >= 7);
}

static void string_tables(void **state)
{
    (void)state;
    assert_true(wio_alloc_every_failure(fill_strtab, NULL) >= 10);
}

static void files(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_true(wio_alloc_every_failure(read_file, &err) >= 1);
    assert_int_equal(err.status, WIO_ERR_NOMEM);
    assert_string_equal(err.file, "/proc/self/status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blobs),
        cmocka_unit_test(maps),
        cmocka_unit_test(string_tables),
        cmocka_unit_test(files),
    };
    return WIO_RUN(tests);
}
