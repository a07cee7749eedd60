/* SPDX-License-Identifier: Apache-2.0 */
/* <whyio/store.h> with servers in a thread of the test: bytes, names, locks. */
#include "api_scene.h"

/* ---- bytes --------------------------------------------------------------------------------- */

/* Every offset and size of a striped file beside a plain array: holes, ends, units. */
static void ranges_are_those_of_a_file(void **state)
{
    (void)state;
    static uint8_t mirror[400];
    uint8_t data[200];
    uint8_t got_data[400];
    uint64_t random = 11;
    uint64_t size = 0;
    struct wio_store_file *file = open_striped("/ranges");
    memset(mirror, 0, sizeof(mirror));
    for (unsigned i = 0; i < 300 / WIO_TEST_SLOWER; i++) {
        size_t offset = wio_test_random(&random) % 200;
        size_t bytes = wio_test_random(&random) % 200;
        size_t got = 0;
        uint64_t told = 0;
        switch (wio_test_random(&random) % 5) {
        case 0:
            assert_ok(wio_store_truncate(file, NULL, offset, &err), &err);
            if (offset < size) {
                memset(mirror + offset, 0, sizeof(mirror) - offset);
            }
            size = offset;
            break;
        case 1:
        case 2:
            for (size_t k = 0; k < bytes; k++) {
                data[k] = (uint8_t)wio_test_random(&random);
            }
            assert_ok(wio_store_pwrite(file, NULL, data, bytes, offset, &err), &err);
            memcpy(mirror + offset, data, bytes);
            size = bytes > 0 && offset + bytes > size ? offset + bytes : size;
            break;
        default:
            memset(got_data, 0xee, sizeof(got_data));
            assert_ok(wio_store_pread(file, NULL, got_data, bytes, offset, &got, &err), &err);
            assert_int_equal(got, offset >= size          ? 0
                                  : size - offset < bytes ? size - offset
                                                          : bytes);
            assert_memory_equal(got_data, mirror + offset, got);
            break;
        }
        assert_ok(wio_store_size(file, NULL, &told, &err), &err);
        assert_int_equal(told, size);
    }
    wio_store_file_close(file);
}

/* More than one request may have: still one transaction. */
static void large_writes_are_whole(void **state)
{
    (void)state;
    const size_t size = 20u << 20;
    uint8_t *data = malloc(size);
    uint8_t *back = malloc(size);
    size_t got = 0;
    struct wio_store_info info = {.struct_size = sizeof(info)};
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.segments = 2;
    struct wio_store_file *file = open_with(store, "large", &params);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i * 31 >> 7);
    }
    assert_ok(wio_store_pwrite(file, NULL, data, size, 5, &err), &err);
    wio_store_get_info(store, &info);
    assert_int_equal(info.committed, 1);
    assert_ok(wio_store_pread(file, NULL, back, size, 5, &got, &err), &err);
    assert_int_equal(got, size);
    assert_memory_equal(back, data, size);
    wio_store_file_close(file);
    free(data);
    free(back);
}

static void views_and_pointers(void **state)
{
    (void)state;
    char text[64] = "";
    size_t got = 0;
    uint64_t at = 0;
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.stripe_unit = 4;
    struct wio_store *other_store = connect_as("other");
    struct wio_store_file *one = open_with(store, "/views", &params);
    struct wio_store_file *two = open_with(other_store, "/views", &params);
    /* global: one pointer for both processes */
    assert_ok(wio_store_write(one, NULL, "first ", 6, &err), &err);
    assert_ok(wio_store_write(two, NULL, "second", 6, &err), &err);
    assert_ok(wio_store_seek(one, NULL, 0, SEEK_SET, NULL, &err), &err);
    assert_ok(wio_store_read(two, NULL, text, 3, &got, &err), &err);
    assert_ok(wio_store_read(one, NULL, text + 3, 60, &got, &err), &err);
    assert_int_equal(got, 9);
    assert_memory_equal(text, "first second", 12);
    assert_ok(wio_store_read(two, NULL, text, 3, &got, &err), &err);
    assert_int_equal(got, 0);
    assert_ok(wio_store_seek(two, NULL, -3, SEEK_END, &at, &err), &err);
    assert_int_equal(at, 9);
    assert_ok(wio_store_seek(one, NULL, 1, SEEK_CUR, &at, &err), &err);
    assert_int_equal(at, 10);
    expect_errno(wio_store_seek(one, NULL, -11, SEEK_CUR, &at, &err), EINVAL);
    assert_ok(wio_store_seek(one, NULL, 0, SEEK_CUR, &at, &err), &err);
    assert_int_equal(at, 10);
    /* another group has another pointer */
    params.group = 7;
    struct wio_store_file *group = open_with(store, "/views", &params);
    assert_ok(wio_store_read(group, NULL, text, 5, &got, &err), &err);
    assert_memory_equal(text, "first", 5);
    /* independent */
    params.view = WIO_VIEW_INDEPENDENT;
    struct wio_store_file *own = open_with(store, "/views", &params);
    assert_ok(wio_store_seek(own, NULL, 6, SEEK_SET, NULL, &err), &err);
    assert_ok(wio_store_read(own, NULL, text, 60, &got, &err), &err);
    assert_int_equal(got, 6);
    assert_memory_equal(text, "second", 6);
    /* a segment has units 1, 4, 7 .. */
    params.view = WIO_VIEW_SEGMENTED;
    params.segment = 1;
    struct wio_store_file *segment = open_with(store, "/views", &params);
    assert_ok(wio_store_read(segment, NULL, text, 60, &got, &err), &err);
    assert_int_equal(got, 4);
    assert_memory_equal(text, "t se", 4);
    assert_ok(wio_store_size(segment, NULL, &at, &err), &err);
    assert_int_equal(at, 4);
    params.segment = 3;
    struct wio_store_file *none = NULL;
    assert_status(wio_store_file_open(store, "/views", &params, &none, &err), WIO_ERR_USAGE, &err);
    wio_store_file_close(one);
    wio_store_file_close(two);
    wio_store_file_close(group);
    wio_store_file_close(own);
    wio_store_file_close(segment);
    wio_store_disconnect(other_store);
}

static void appends_follow_each_other(void **state)
{
    (void)state;
    char text[64];
    size_t got = 0;
    struct wio_store_open_params params = how(O_RDWR | O_CREAT | O_APPEND);
    params.view = WIO_VIEW_INDEPENDENT;
    params.stripe_unit = 4;
    struct wio_store_file *one = open_with(store, "/log", &params);
    struct wio_store_file *two = open_with(store, "/log", &params);
    assert_ok(wio_store_write(one, NULL, "alpha ", 6, &err), &err);
    assert_ok(wio_store_write(two, NULL, "beta ", 5, &err), &err);
    assert_ok(wio_store_write(one, NULL, "gamma", 5, &err), &err);
    assert_ok(wio_store_pread(one, NULL, text, 64, 0, &got, &err), &err);
    assert_int_equal(got, 16);
    assert_memory_equal(text, "alpha beta gamma", 16);
    wio_store_file_close(one);
    wio_store_file_close(two);
}

static void numbers_are_added(void **state)
{
    (void)state;
    int64_t before = 0;
    struct wio_store_file *file = open_striped("/number");
    assert_ok(wio_store_add(file, NULL, 40, 5, &before, &err), &err);
    assert_int_equal(before, 0);
    assert_ok(wio_store_add(file, NULL, 40, -7, &before, &err), &err);
    assert_int_equal(before, 5);
    assert_ok(wio_store_add(file, NULL, 40, 0, &before, &err), &err);
    assert_int_equal(before, -2);
    expect_errno(wio_store_add(file, NULL, 44, 1, &before, &err), EINVAL);
    wio_store_file_close(file);
    /* no unit has room for one */
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.stripe_unit = 4;
    file = open_with(store, "/small", &params);
    expect_errno(wio_store_add(file, NULL, 0, 1, &before, &err), EINVAL);
    wio_store_file_close(file);
}

/* ---- names --------------------------------------------------------------------------------- */

static bool count_entry(void *context, const char *name, const struct wio_store_attr *attr)
{
    char *names = context;
    assert_true(attr->file != 0);
    strcat(names, name);
    strcat(names, S_ISDIR(attr->mode) ? "/ " : " ");
    return true;
}

static void names_are_those_of_posix(void **state)
{
    (void)state;
    char names[256] = "";
    char text[64];
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    struct wio_store_file *file = NULL;
    struct wio_store_open_params exclusive = how(O_RDWR | O_CREAT | O_EXCL);
    assert_ok(wio_store_mkdir(store, "/d", 0755, &err), &err);
    expect_errno(wio_store_mkdir(store, "/d", 0755, &err), EEXIST);
    file = open_striped("/d/a");
    assert_ok(wio_store_pwrite(file, NULL, "123456789012345678901", 21, 0, &err), &err);
    wio_store_file_close(file);
    expect_errno(wio_store_file_open(store, "/d/a", &exclusive, &file, &err), EEXIST);
    expect_errno(wio_store_rmdir(store, "/d", &err), ENOTEMPTY);
    assert_ok(wio_store_stat(store, "d/a", 0, &attr, &err), &err);
    assert_int_equal(attr.size, 21);
    assert_int_equal(attr.segments, 3);
    assert_int_equal(attr.stripe_unit, 16);
    assert_int_equal(attr.mode, S_IFREG | 0644);
    assert_ok(wio_store_symlink(store, "a", "/d/link", &err), &err);
    assert_ok(wio_store_readlink(store, "/d/link", text, sizeof(text), &err), &err);
    assert_string_equal(text, "a");
    expect_errno(wio_store_readlink(store, "/d/link", text, 1, &err), ERANGE);
    expect_errno(wio_store_readlink(store, "/d/a", text, sizeof(text), &err), EINVAL);
    assert_ok(wio_store_stat(store, "/d/link", 0, &attr, &err), &err);
    assert_int_equal(attr.size, 21);
    assert_ok(wio_store_stat(store, "/d/link", WIO_STORE_NOFOLLOW, &attr, &err), &err);
    assert_true(S_ISLNK(attr.mode));
    const struct wio_store_open_params itself = how(O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW);
    expect_errno(wio_store_file_open(store, "/d/link", &itself, &file, &err), ELOOP);
    assert_ok(wio_store_chmod(store, "/d/a", 0600, &err), &err);
    assert_ok(wio_store_utimens(store, "/d/a", 5, 7, 0, &err), &err);
    assert_ok(wio_store_stat(store, "/d/a", WIO_STORE_NO_SIZE, &attr, &err), &err);
    assert_int_equal(attr.mode & 07777, 0600);
    assert_int_equal(attr.atime_ns, 5);
    assert_int_equal(attr.mtime_ns, 7);
    assert_int_equal(attr.size, 0);
    assert_ok(wio_store_chown(store, "/d/a", UINT32_MAX, UINT32_MAX, 0, &err), &err);
    assert_ok(wio_store_mkdir(store, "/d/sub", 0700, &err), &err);
    assert_ok(wio_store_list(store, "/d", count_entry, names, &err), &err);
    assert_string_equal(names, "a link sub/ ");
    expect_errno(wio_store_list(store, "/d/none", count_entry, names, &err), ENOENT);
    assert_ok(wio_store_rename(store, "/d/a", "/d/sub/b", &err), &err);
    expect_errno(wio_store_stat(store, "/d/a", 0, &attr, &err), ENOENT);
    assert_ok(wio_store_unlink(store, "/d/sub/b", &err), &err);
    expect_errno(wio_store_unlink(store, "/d/sub/b", &err), ENOENT);
    expect_errno(wio_store_unlink(store, "/d/sub", &err), EISDIR);
}

/* What has no name any more takes no space. */
static void bytes_go_with_the_name(void **state)
{
    (void)state;
    struct wio_store_space space = {.struct_size = sizeof(space)};
    struct wio_store_file *file = open_striped("/one");
    assert_ok(wio_store_pwrite(file, NULL, "0123456789", 10, 30, &err), &err);
    wio_store_file_close(file);
    file = open_striped("/two");
    assert_ok(wio_store_pwrite(file, NULL, "01234567", 8, 0, &err), &err);
    wio_store_file_close(file);
    assert_ok(wio_store_statfs(store, &space, &err), &err);
    assert_int_equal(space.targets, 3);
    assert_true(space.used_bytes > 0);
    assert_ok(wio_store_rename(store, "/two", "/one", &err), &err);
    assert_ok(wio_store_unlink(store, "/one", &err), &err);
    assert_ok(wio_store_statfs(store, &space, &err), &err);
    assert_int_equal(space.used_bytes, 0);
}

static void truncation_by_open(void **state)
{
    (void)state;
    uint64_t size = 9;
    struct wio_store_open_params params = how(O_RDWR | O_TRUNC);
    struct wio_store_file *file = open_striped("/cut");
    assert_ok(wio_store_pwrite(file, NULL, "0123456789", 10, 30, &err), &err);
    wio_store_file_close(file);
    file = open_with(store, "/cut", &params);
    assert_ok(wio_store_size(file, NULL, &size, &err), &err);
    assert_int_equal(size, 0);
    wio_store_file_close(file);
}

static void wrong_uses_are_told(void **state)
{
    (void)state;
    char byte = 0;
    size_t got = 0;
    struct wio_store_file *file = open_striped("/wrong");
    wio_store_file_close(file);
    struct wio_store_open_params params = how(O_RDONLY);
    file = open_with(store, "/wrong", &params);
    expect_errno(wio_store_pwrite(file, NULL, &byte, 1, 0, &err), EBADF);
    expect_errno(wio_store_pread(file, NULL, &byte, 1, UINT64_MAX, &got, &err), EINVAL);
    expect_errno(wio_store_seek(file, NULL, 0, 9, NULL, &err), EINVAL);
    wio_store_file_close(file);
    params.flags = O_WRONLY;
    file = open_with(store, "/wrong", &params);
    expect_errno(wio_store_pread(file, NULL, &byte, 1, 0, &got, &err), EBADF);
    expect_errno(wio_store_pwrite(file, NULL, &byte, 1, UINT64_MAX, &err), EFBIG);
    wio_store_file_close(file);
    params.flags = 1 << 30;
    assert_status(wio_store_file_open(store, "/wrong", &params, &file, &err), WIO_ERR_USAGE, &err);
    params = (struct wio_store_open_params){0};
    assert_status(wio_store_file_open(store, "/wrong", &params, &file, &err), WIO_ERR_USAGE, &err);
}

/* ---- locks --------------------------------------------------------------------------------- */

static void locks_are_against_other_clients(void **state)
{
    (void)state;
    struct wio_store_blockers blockers = {.struct_size = sizeof(blockers)};
    struct wio_store *others = connect_as("keeper");
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    struct wio_store_file *ours = open_striped("/locked");
    struct wio_store_file *theirs = open_with(others, "/locked", &params);
    assert_ok(wio_store_lock(theirs, 10, 30, true, false, &err), &err);
    expect_errno(wio_store_lock(ours, 39, 5, false, false, &err), EAGAIN);
    wio_store_blockers(ours, NULL, &blockers);
    assert_int_equal(blockers.count, 1);
    assert_string_equal(blockers.list[0].job, "keeper");
    assert_ok(wio_store_lock(ours, 40, 0, true, false, &err), &err);
    assert_ok(wio_store_lock(ours, 0, 10, true, false, &err), &err);
    expect_errno(wio_store_lock(theirs, 9, 1, false, false, &err), EAGAIN);
    /* nothing is left of an attempt that failed on its last segment */
    expect_errno(wio_store_lock(theirs, 0, 20, true, false, &err), EAGAIN);
    assert_ok(wio_store_unlock(ours, 0, 0, &err), &err);
    assert_ok(wio_store_lock(theirs, 0, 0, true, false, &err), &err);
    /* a client that has disconnected holds nothing */
    wio_store_file_close(theirs);
    wio_store_disconnect(others);
    assert_ok(wio_store_lock(ours, 0, 0, true, true, &err), &err);
    wio_store_file_close(ours);
}

/* Whether a lock that timed out was given is not known: it is not held afterwards. */
static void a_lock_that_timed_out_is_given_back(void **state)
{
    (void)state;
    struct wio_store *others = connect_as("keeper");
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.stripe_unit = 16;
    struct wio_store_file *theirs = open_with(others, "/late", &params);
    params.timeout_ns = SECOND_NS / 10;
    struct wio_store_file *ours = open_with(store, "/late", &params);
    served_pause(&served);
    expect_errno(wio_store_lock(ours, 0, 0, true, false, &err), ETIMEDOUT);
    served_go_on(&served);
    assert_ok(wio_store_lock(theirs, 0, 0, true, true, &err), &err);
    wio_store_file_close(ours);
    wio_store_file_close(theirs);
    wio_store_disconnect(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(ranges_are_those_of_a_file),
        SCENE(large_writes_are_whole),
        SCENE(views_and_pointers),
        SCENE(appends_follow_each_other),
        SCENE(numbers_are_added),
        SCENE(names_are_those_of_posix),
        SCENE(bytes_go_with_the_name),
        SCENE(truncation_by_open),
        SCENE(wrong_uses_are_told),
        SCENE(locks_are_against_other_clients),
        SCENE(a_lock_that_timed_out_is_given_back),
    };
    return WIO_RUN(tests);
}
