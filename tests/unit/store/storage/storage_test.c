/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include "store/storage/root.h"
#include "support/store/disk.h"

enum { KIB = 1024, BLOCK = WIO_STORAGE_BLOCK };

struct place {
    struct disk *disk;
    struct wio_storage *storage;
};

static enum wio_status try_open(struct place *place, uint64_t size, uint32_t open_files,
                                struct wio_error *err)
{
    struct wio_storage_config config = {.io = disk_io(place->disk),
                                        .size_bytes = size,
                                        .keep_free_bytes = 16 * KIB,
                                        .open_files = open_files};
    wio_storage_close(place->storage);
    place->storage = NULL;
    return wio_storage_open(&config, &place->storage, err);
}

static struct place begin(uint64_t size)
{
    struct place place = {.disk = disk_create(1)};
    struct wio_store_root root;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_store_root_open(disk_io(place.disk), WIO_LOG_OWN, true, &root, &err), &err);
    assert_ok(try_open(&place, size, 0, &err), &err);
    return place;
}

static void end(struct place *place)
{
    wio_storage_close(place->storage);
    disk_destroy(place->disk);
}

static void put(struct place *place, struct wio_segment_id id, uint64_t offset, size_t bytes)
{
    char data[16 * KIB];
    struct wio_error err = WIO_ERROR_INIT;
    memset(data, (int)(id.file + id.segment), sizeof(data));
    assert_ok(wio_storage_write(place->storage, id, offset, data, bytes, &err), &err);
}

static uint64_t size_of(struct place *place, struct wio_segment_id id)
{
    uint64_t bytes = 0;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_storage_size(place->storage, id, &bytes, &err), &err);
    return bytes;
}

static struct wio_storage_space space_of(struct place *place)
{
    struct wio_storage_space space;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_storage_space(place->storage, &space, &err), &err);
    return space;
}

static enum wio_status reserve(struct place *place, uint64_t offset, uint64_t bytes,
                               uint64_t *reserved, struct wio_error *err)
{
    return wio_storage_reserve(place->storage, (struct wio_segment_id){1, 0}, offset, bytes,
                               reserved, err);
}

static void holes_are_zeros_and_the_end_is_the_end(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_id id = {0x1234, 7};
    char data[64];
    size_t got = 1;
    (void)state;
    assert_ok(wio_storage_read(place.storage, id, 0, data, sizeof(data), &got, &err), &err);
    assert_int_equal(got, 0);
    assert_int_equal(size_of(&place, id), 0);
    put(&place, id, 10000, 10);
    assert_int_equal(size_of(&place, id), 10010);
    assert_ok(wio_storage_read(place.storage, id, 9990, data, sizeof(data), &got, &err), &err);
    assert_int_equal(got, 20);
    assert_int_equal(data[9], 0);
    assert_int_equal(data[10], (char)(0x1234 + 7));
    end(&place);
}

/* R-DATA-1 */
static void names_are_as_documented(void **state)
{
    struct place place = begin(0);
    size_t size = 0;
    (void)state;
    put(&place, (struct wio_segment_id){0xabc12, 31}, 0, 5);
    assert_non_null(disk_bytes(place.disk, "data/12/00000000000abc12.01f", &size));
    assert_int_equal(size, 5);
    end(&place);
}

static void truncates_and_removes(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_id first = {9, 0};
    struct wio_segment_id second = {9, 1};
    struct wio_segment_id other = {9 + 256, 0}; /* in the same directory */
    (void)state;
    put(&place, first, 0, 8 * KIB);
    put(&place, second, 0, 8 * KIB);
    put(&place, other, 0, 8 * KIB);
    assert_ok(wio_storage_truncate(place.storage, first, 100, &err), &err);
    assert_int_equal(size_of(&place, first), 100);
    assert_ok(wio_storage_truncate(place.storage, first, 5000, &err), &err);
    assert_int_equal(size_of(&place, first), 5000);
    assert_int_equal(space_of(&place).used_bytes, 2 * BLOCK + 2 * (8 * KIB));
    assert_ok(wio_storage_remove(place.storage, 9, &err), &err);
    assert_int_equal(size_of(&place, first), 0);
    assert_int_equal(size_of(&place, second), 0);
    assert_int_equal(size_of(&place, other), 8 * KIB);
    assert_int_equal(space_of(&place).used_bytes, 8 * KIB);
    assert_ok(wio_storage_remove(place.storage, 9, &err), &err);
    end(&place);
}

/* R-DATA-2 */
static void what_was_reserved_can_be_written(void **state)
{
    struct place place = begin(40 * KIB);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t first = 0;
    uint64_t second = 0;
    (void)state;
    assert_ok(reserve(&place, 0, 24 * KIB, &first, &err), &err);
    assert_int_equal(first, 24 * KIB);
    assert_status(reserve(&place, 24 * KIB, 17 * KIB, &second, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_ok(reserve(&place, 24 * KIB + 1, 16 * KIB - 1, &second, &err), &err);
    put(&place, (struct wio_segment_id){1, 0}, 0, 16 * KIB);
    put(&place, (struct wio_segment_id){1, 0}, 16 * KIB, 8 * KIB);
    put(&place, (struct wio_segment_id){1, 0}, 24 * KIB, 16 * KIB);
    wio_storage_release(place.storage, first);
    wio_storage_release(place.storage, second);
    assert_int_equal(space_of(&place).used_bytes, 40 * KIB);
    assert_int_equal(space_of(&place).reserved_bytes, 0);
    /* full: what is there can be written again, nothing else */
    assert_ok(reserve(&place, 100, 30 * KIB, &first, &err), &err);
    assert_int_equal(first, 0);
    assert_status(reserve(&place, 40 * KIB, 1, &first, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    end(&place);
}

static void the_device_is_not_filled(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t reserved = 0;
    (void)state;
    disk_limit(place.disk, 100 * KIB);
    assert_ok(try_open(&place, 84 * KIB, 0, &err), &err); /* 16 KiB are kept free */
    assert_status(try_open(&place, 85 * KIB, 0, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_ok(try_open(&place, 0, 0, &err), &err);
    assert_ok(reserve(&place, 0, 80 * KIB, &reserved, &err), &err);
    assert_status(reserve(&place, 80 * KIB, 8 * KIB, &reserved, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    end(&place);
}

static void refuses_ranges_that_no_file_has(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t reserved = 0;
    struct wio_segment_id beyond = {1, 4096};
    (void)state;
    assert_status(reserve(&place, UINT64_MAX, 2, &reserved, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_status(reserve(&place, 0, UINT64_MAX, &reserved, &err), WIO_ERR_IO, &err);
    assert_status(wio_storage_write(place.storage, beyond, 0, "x", 1, &err), WIO_ERR_IO, &err);
    assert_status(
        wio_storage_truncate(place.storage, (struct wio_segment_id){1, 0}, UINT64_MAX, &err),
        WIO_ERR_IO, &err);
    end(&place);
}

/* R-DATA-3: the file system has a longest file: what is behind it is refused, not tried. */
static void a_segment_is_no_longer_than_a_file_can_be(void **state)
{
    struct place place = begin(0);
    uint64_t reserved = 0;
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    disk_limit_file(place.disk, 1 << 20);
    assert_ok(try_open(&place, 0, 0, &err), &err);
    assert_ok(reserve(&place, (1 << 20) - 100, 100, &reserved, &err), &err);
    wio_storage_release(place.storage, reserved);
    assert_ok(reserve(&place, 1 << 20, 0, &reserved, &err), &err); /* a truncation */
    assert_status(reserve(&place, (1 << 20) - 100, 101, &reserved, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_status(reserve(&place, (1 << 20) + 1, 0, &reserved, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, EFBIG);
    end(&place);
}

static void adds_up_what_is_there(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    for (uint64_t file = 1; file <= 20; file++) {
        put(&place, (struct wio_segment_id){file, 0}, 0, (size_t)file * 100);
    }
    assert_ok(try_open(&place, 0, 0, &err), &err);
    assert_int_equal(space_of(&place).used_bytes, 20 * BLOCK);
    end(&place);
}

static void few_open_files_serve_many(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    char data[4];
    size_t got = 0;
    (void)state;
    assert_ok(try_open(&place, 0, 3, &err), &err);
    for (uint64_t file = 1; file <= 50; file++) {
        put(&place, (struct wio_segment_id){file, 0}, 0, 4);
    }
    for (uint64_t file = 50; file >= 1; file--) {
        struct wio_segment_id id = {file, 0};
        assert_ok(wio_storage_read(place.storage, id, 0, data, 4, &got, &err), &err);
        assert_int_equal(got, 4);
        assert_int_equal(data[0], file);
    }
    end(&place);
}

struct told {
    unsigned times;
    enum wio_status status;
    int sys_errno;
};

static void done(void *context, enum wio_status status, int sys_errno)
{
    struct told *told = context;
    *told = (struct told){told->times + 1, status, sys_errno};
}

/* After the flush a crash loses nothing; before, it may lose all. */
static void a_flush_makes_all_durable(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct told told = {0};
    size_t size = 0;
    (void)state;
    for (uint64_t file = 1; file <= 5; file++) {
        put(&place, (struct wio_segment_id){file, 0}, 0, 4);
    }
    struct disk *before = disk_crash(place.disk, disk_events(place.disk), 1, DISK_NONE_SURVIVE);
    assert_null(disk_bytes(before, "data/03/0000000000000003.000", &size));
    assert_ok(wio_storage_flush(place.storage, done, &told, &err), &err);
    disk_turn(place.disk);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.status, WIO_OK);
    struct disk *after = disk_crash(place.disk, disk_events(place.disk), 1, DISK_NONE_SURVIVE);
    for (char file = '1'; file <= '5'; file++) {
        char name[] = "data/00/0000000000000000.000";
        name[6] = file;
        name[23] = file;
        assert_non_null(disk_bytes(after, name, &size));
        assert_int_equal(size, 4);
    }
    assert_status(wio_storage_flush(place.storage, done, &told, &err), WIO_END, &err);
    disk_destroy(before);
    disk_destroy(after);
    end(&place);
}

/* A file may be removed while it is flushed. */
/* The size is kept, and asked for again after a write of which a part was written, maybe. */
static void sizes_are_those_of_the_file(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_id id = {3, 0};
    static const char data[8 * KIB];
    (void)state;
    assert_int_equal(size_of(&place, id), 0);
    put(&place, id, 0, 100);
    put(&place, id, 50, 10);
    assert_int_equal(size_of(&place, id), 100);
    put(&place, id, 90, 20);
    assert_int_equal(size_of(&place, id), 110);
    assert_ok(wio_storage_truncate(place.storage, id, 30, &err), &err);
    assert_int_equal(size_of(&place, id), 30);
    disk_set_fault(place.disk, (struct disk_fault){1, EIO, true, false});
    assert_int_equal(wio_storage_write(place.storage, id, 0, data, sizeof(data), &err), WIO_ERR_IO);
    assert_int_equal(size_of(&place, id), 4 * KIB);
    put(&place, id, 4 * KIB, 8 * KIB);
    assert_int_equal(size_of(&place, id), 12 * KIB);
    uint64_t used = space_of(&place).used_bytes;
    assert_int_equal(used, 12 * KIB);
    put(&place, id, 0, 12 * KIB);
    assert_int_equal(space_of(&place).used_bytes, used);
    end(&place);
}

/* A process that was killed made the file; another one flushes it, and with it its name. */
static void names_of_an_earlier_process_are_flushed(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_id id = {0x105, 0};
    struct place place = begin(0);
    (void)state;
    put(&place, id, 0, 100);
    assert_ok(try_open(&place, 0, 0, &err), &err);
    put(&place, id, 0, 100);
    assert_ok(wio_storage_sync(place.storage, &err), &err);
    struct place after = {
        .disk = disk_crash(place.disk, disk_events(place.disk), 1, DISK_NONE_SURVIVE)};
    assert_ok(try_open(&after, 0, 0, &err), &err);
    assert_int_equal(size_of(&after, id), 100);
    end(&after);
    end(&place);
}

static void removal_during_a_flush(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct told told = {0};
    struct wio_segment_id id = {3, 0};
    (void)state;
    put(&place, id, 0, 4);
    assert_ok(wio_storage_flush(place.storage, done, &told, &err), &err);
    assert_ok(wio_storage_remove(place.storage, 3, &err), &err);
    assert_int_equal(size_of(&place, id), 0);
    disk_turn(place.disk);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.status, WIO_OK);
    end(&place);
}

/* What a failed flush has lost no later one brings back. */
static void a_failed_flush_is_for_ever(void **state)
{
    struct place place = begin(0);
    struct wio_error err = WIO_ERROR_INIT;
    struct told told = {0};
    (void)state;
    put(&place, (struct wio_segment_id){3, 0}, 0, 4);
    disk_set_fault(place.disk, (struct disk_fault){.at = 1, .sys_errno = EIO});
    assert_ok(wio_storage_flush(place.storage, done, &told, &err), &err);
    disk_turn(place.disk);
    assert_int_equal(told.status, WIO_ERR_IO);
    assert_int_equal(told.sys_errno, EIO);
    assert_status(wio_storage_flush(place.storage, done, &told, &err), WIO_ERR_IO, &err);
    assert_status(wio_storage_sync(place.storage, &err), WIO_ERR_IO, &err);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_zeros_and_the_end_is_the_end),
        cmocka_unit_test(names_are_as_documented),
        cmocka_unit_test(truncates_and_removes),
        cmocka_unit_test(what_was_reserved_can_be_written),
        cmocka_unit_test(the_device_is_not_filled),
        cmocka_unit_test(refuses_ranges_that_no_file_has),
        cmocka_unit_test(a_segment_is_no_longer_than_a_file_can_be),
        cmocka_unit_test(adds_up_what_is_there),
        cmocka_unit_test(few_open_files_serve_many),
        cmocka_unit_test(a_flush_makes_all_durable),
        cmocka_unit_test(sizes_are_those_of_the_file),
        cmocka_unit_test(names_of_an_earlier_process_are_flushed),
        cmocka_unit_test(removal_during_a_flush),
        cmocka_unit_test(a_failed_flush_is_for_ever),
    };
    return WIO_RUN(tests);
}
