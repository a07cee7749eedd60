/* SPDX-License-Identifier: Apache-2.0 */
/* <whyio/store.h> with servers in a thread of the test: transactions. */
#include "api_scene.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(transactions_are_seen_at_once),       SCENE(a_file_may_be_closed_before_the_commit),
        SCENE(stable_transactions_commit),          SCENE(the_younger_begins_again),
        SCENE(the_last_write_goes_with_the_commit),
    };
    return WIO_RUN(tests);
}
