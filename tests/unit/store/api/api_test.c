/* SPDX-License-Identifier: Apache-2.0 */
/* <whyio/store.h> with servers in a thread of the test: what each call does. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/store.h>

#include "support/store/served.h"

#define SECOND_NS UINT64_C(1000000000)

static struct served served;
static struct wio_store *store;
static struct wio_error err;

static struct wio_store *connect_as(const char *job)
{
    struct wio_store *made = NULL;
    const struct wio_store_params params = {.struct_size = sizeof(params),
                                            .address = served.address,
                                            .job = job,
                                            .timeout_ns = 20 * SECOND_NS};
    assert_ok(wio_store_connect(&params, &made, &err), &err);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    served_begin(&served, 3);
    err = (struct wio_error)WIO_ERROR_INIT;
    store = connect_as("solver");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wio_store_disconnect(store);
    served_end(&served);
    return 0;
}

static struct wio_store_open_params how(int flags)
{
    return (struct wio_store_open_params){
        .struct_size = sizeof(struct wio_store_open_params), .flags = flags, .mode = 0644};
}

static struct wio_store_file *open_with(struct wio_store *from, const char *path,
                                        const struct wio_store_open_params *params)
{
    struct wio_store_file *file = NULL;
    assert_ok(wio_store_file_open(from, path, params, &file, &err), &err);
    return file;
}

/* Three segments, units of 16 bytes. */
static struct wio_store_file *open_striped(const char *path)
{
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.stripe_unit = 16;
    return open_with(store, path, &params);
}

static void expect_errno(enum wio_status status, int sys_errno)
{
    assert_int_not_equal(status, WIO_OK);
    assert_int_equal(err.sys_errno, sys_errno);
    assert_true(err.message[0] != '\0');
    err = (struct wio_error)WIO_ERROR_INIT;
}

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

/* ---- transactions -------------------------------------------------------------------------- */

static void transactions_are_seen_at_once(void **state)
{
    (void)state;
    char text[32] = "";
    size_t got = 0;
    struct wio_store_txn *txn = NULL;
    struct wio_store_file *file = open_striped("/txn");
    assert_ok(wio_store_pwrite(file, NULL, "aaaaaaaaaaaaaaaaaaaa", 20, 0, &err), &err);
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "bbbb", 4, 14, &err), &err);
    assert_ok(wio_store_pread(file, txn, text, 20, 0, &got, &err), &err);
    assert_memory_equal(text, "aaaaaaaaaaaaaabbbbaa", 20);
    assert_ok(wio_store_commit(txn, &err), &err);
    expect_errno(wio_store_pwrite(file, txn, "c", 1, 0, &err), 0);
    wio_store_end(txn);
    /* without a commit nothing has happened */
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "cccccccccccccccccccc", 20, 0, &err), &err);
    wio_store_end(txn);
    assert_ok(wio_store_pread(file, NULL, text, 20, 0, &got, &err), &err);
    assert_memory_equal(text, "aaaaaaaaaaaaaabbbbaa", 20);
    wio_store_file_close(file);
}

/* The last write waits for the commit: what allows it is not given up with the file. */
static void a_file_may_be_closed_before_the_commit(void **state)
{
    (void)state;
    char text[8] = "";
    size_t got = 0;
    struct wio_store_txn *txn = NULL;
    struct wio_store_file *file = open_striped("/closed");
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "kept", 4, 0, &err), &err);
    wio_store_file_close(file);
    assert_ok(wio_store_commit(txn, &err), &err);
    wio_store_end(txn);
    file = open_striped("/closed");
    assert_ok(wio_store_pread(file, NULL, text, sizeof(text), 0, &got, &err), &err);
    assert_int_equal(got, 4);
    assert_memory_equal(text, "kept", 4);
    /* nor where it is not committed */
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "lost", 4, 0, &err), &err);
    wio_store_file_close(file);
    wio_store_end(txn);
}

static void stable_transactions_commit(void **state)
{
    (void)state;
    char text[64];
    size_t got = 0;
    struct wio_store_txn *txn = NULL;
    const struct wio_store_txn_params stable = {.struct_size = sizeof(stable), .is_stable = true};
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.is_stable = true;
    params.stripe_unit = 8;
    struct wio_store_file *file = open_with(store, "/stable", &params);
    assert_ok(wio_store_pwrite(file, NULL, "one request", 5, 0, &err), &err);
    assert_ok(wio_store_pwrite(file, NULL, "over several targets", 20, 5, &err), &err);
    assert_ok(wio_store_begin(store, &stable, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "ONE", 3, 0, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "TARGETS", 7, 18, &err), &err);
    assert_ok(wio_store_commit(txn, &err), &err);
    wio_store_end(txn);
    assert_ok(wio_store_pread(file, NULL, text, 64, 0, &got, &err), &err);
    assert_int_equal(got, 25);
    assert_memory_equal(text, "ONE rover several TARGETS", 25);
    wio_store_file_close(file);
}

/* The younger one holds what the older one wants: it is wounded, hears it at its next call, and
 * begins again with the age that it had. */
static void the_younger_begins_again(void **state)
{
    (void)state;
    struct wio_store *others = connect_as("elder");
    struct wio_store_txn *older = NULL;
    struct wio_store_txn *younger = NULL;
    struct wio_store_blockers blockers = {.struct_size = sizeof(blockers)};
    struct wio_store_info info = {.struct_size = sizeof(info)};
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.source = "elder.c:7";
    struct wio_store_file *ours = open_striped("/fight");
    struct wio_store_file *theirs = open_with(others, "/fight", &params);
    assert_ok(wio_store_begin(others, NULL, &older, &err), &err);
    assert_ok(wio_store_pwrite(theirs, older, "x", 1, 100, &err), &err);
    assert_ok(wio_store_begin(store, NULL, &younger, &err), &err);
    assert_ok(wio_store_pwrite(ours, younger, "y", 1, 0, &err), &err);
    assert_ok(wio_store_pwrite(ours, younger, "z", 1, 200, &err), &err); /* sends the one before */
    assert_ok(wio_store_pwrite(theirs, older, "x", 1, 0, &err), &err);
    assert_ok(wio_store_pwrite(theirs, older, "x", 1, 101, &err), &err); /* .. which wounds */
    enum wio_status status = wio_store_commit(younger, &err);
    assert_int_equal(status, WIO_ERR_BUSY);
    assert_int_equal(err.sys_errno, EAGAIN);
    assert_non_null(strstr(err.message, "elder"));
    err = (struct wio_error)WIO_ERROR_INIT;
    wio_store_blockers(NULL, younger, &blockers);
    assert_int_equal(blockers.count, 1);
    assert_string_equal(blockers.list[0].job, "elder");
    assert_string_equal(blockers.list[0].source, "elder.c:7");
    assert_string_equal(blockers.list[0].mode, "exclusive");
    expect_errno(wio_store_pwrite(ours, younger, "y", 1, 0, &err), EAGAIN);
    assert_ok(wio_store_commit(older, &err), &err);
    wio_store_end(older);
    assert_ok(wio_store_restart(younger, &err), &err);
    assert_ok(wio_store_pwrite(ours, younger, "y", 1, 0, &err), &err);
    assert_ok(wio_store_commit(younger, &err), &err);
    wio_store_end(younger);
    wio_store_get_info(store, &info);
    assert_int_equal(info.wounds, 1);
    assert_int_equal(info.attempts, 1);
    wio_store_file_close(ours);
    wio_store_file_close(theirs);
    wio_store_disconnect(others);
}

static uint64_t requests(void)
{
    served_pause(&served);
    uint64_t count = served_stat(&served).requests;
    served_go_on(&served);
    return count;
}

/* Its last write is sent with the commit, in one message; the one before with the next call. */
static void the_last_write_goes_with_the_commit(void **state)
{
    (void)state;
    struct wio_store_txn *txn = NULL;
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.segments = 1;
    struct wio_store_file *file = open_with(store, "/last", &params);
    char text[8] = "";
    size_t got = 0;
    assert_ok(wio_store_pwrite(file, NULL, "........", 8, 0, &err), &err);
    uint64_t before = requests();
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "ab", 2, 0, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "cd", 2, 2, &err), &err);
    assert_ok(wio_store_commit(txn, &err), &err);
    wio_store_end(txn);
    assert_int_equal(requests() - before, 2);
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    assert_ok(wio_store_pwrite(file, txn, "ef", 2, 4, &err), &err);
    assert_ok(wio_store_pread(file, txn, text, 8, 0, &got, &err), &err);
    assert_memory_equal(text, "abcdef..", 8);
    assert_ok(wio_store_pwrite(file, txn, "gh", 2, 6, &err), &err);
    wio_store_end(txn); /* no commit: neither of them */
    assert_ok(wio_store_pread(file, NULL, text, 8, 0, &got, &err), &err);
    assert_memory_equal(text, "abcd....", 8);
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
#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SCENE(ranges_are_those_of_a_file),
        SCENE(large_writes_are_whole),
        SCENE(views_and_pointers),
        SCENE(appends_follow_each_other),
        SCENE(numbers_are_added),
        SCENE(transactions_are_seen_at_once),
        SCENE(a_file_may_be_closed_before_the_commit),
        SCENE(stable_transactions_commit),
        SCENE(the_younger_begins_again),
        SCENE(the_last_write_goes_with_the_commit),
        SCENE(names_are_those_of_posix),
        SCENE(bytes_go_with_the_name),
        SCENE(truncation_by_open),
        SCENE(wrong_uses_are_told),
        SCENE(locks_are_against_other_clients),
        SCENE(a_lock_that_timed_out_is_given_back),
    };
    return WIO_RUN(tests);
}
