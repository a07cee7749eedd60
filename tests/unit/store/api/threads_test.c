/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads and transactions of one process, time-outs, servers that do not answer. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/store.h>

#include "base/clock.h"
#include "support/store/served.h"

#define SECOND_NS UINT64_C(1000000000)
#define MILLISECOND_NS UINT64_C(1000000)

enum { THREADS = 6, ACCOUNTS = 8, ROUNDS = 60 / WIO_TEST_SLOWER, START = 1000, RECORD = 24 };

static struct served served;

static struct wio_store *connect_for(uint64_t timeout_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    const struct wio_store_params params = {
        .struct_size = sizeof(params), .address = served.address, .timeout_ns = timeout_ns};
    assert_ok(wio_store_connect(&params, &store, &err), &err);
    return store;
}

static struct wio_store_file *open_file(struct wio_store *store, const char *path,
                                        enum wio_view view, uint32_t unit)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    const struct wio_store_open_params params = {.struct_size = sizeof(params),
                                                 .flags = O_RDWR | O_CREAT,
                                                 .mode = 0600,
                                                 .view = view,
                                                 .stripe_unit = unit};
    assert_ok(wio_store_file_open(store, path, &params, &file, &err), &err);
    return file;
}

static int set_up(void **state)
{
    (void)state;
    served_begin(&served, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    served_end(&served);
    return 0;
}

/* ---- transfers ----------------------------------------------------------------------------- */

struct teller {
    struct wio_store *store;
    struct wio_store_file *file;
    uint64_t random;
    unsigned from;
    unsigned to;
    bool is_stable;
    enum wio_status status;
    struct wio_error err;
};

static enum wio_status move(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct teller *teller = context;
    int64_t balances[2];
    const unsigned at[2] = {teller->from, teller->to};
    size_t got = 0;
    enum wio_status status = WIO_OK;
    for (unsigned i = 0; i < 2 && status == WIO_OK; i++) {
        status = wio_store_pread(teller->file, txn, &balances[i], 8, at[i] * 8ull, &got, err);
    }
    balances[0]--;
    balances[1]++;
    for (unsigned i = 0; i < 2 && status == WIO_OK; i++) {
        status = wio_store_pwrite(teller->file, txn, &balances[i], 8, at[i] * 8ull, err);
    }
    return status;
}

static void *work(void *context)
{
    struct teller *teller = context;
    const struct wio_store_txn_params params = {.struct_size = sizeof(params),
                                                .is_stable = teller->is_stable};
    for (unsigned i = 0; i < ROUNDS && teller->status == WIO_OK; i++) {
        teller->from = (unsigned)(wio_test_random(&teller->random) % ACCOUNTS);
        teller->to = (teller->from + 1 + (unsigned)(wio_test_random(&teller->random) % 7)) % 8;
        teller->status = wio_store_transact(teller->store, &params, move, teller, &teller->err);
    }
    return NULL;
}

static void *audit(void *context)
{
    struct teller *teller = context;
    for (unsigned i = 0; i < ROUNDS && teller->status == WIO_OK; i++) {
        int64_t balances[ACCOUNTS];
        int64_t sum = 0;
        size_t got = 0;
        teller->status =
            wio_store_pread(teller->file, NULL, balances, sizeof(balances), 0, &got, &teller->err);
        for (unsigned k = 0; k < ACCOUNTS; k++) {
            sum += balances[k];
        }
        if (teller->status == WIO_OK && sum != ACCOUNTS * START) {
            teller->status = wio_error_set(&teller->err, WIO_ERR_INTERNAL, NULL,
                                           WIO_ERROR_NO_OFFSET, "the sum is %lld", (long long)sum);
        }
    }
    return NULL;
}

/* Some threads share a connection, others have one of their own; accounts lie on two targets. */
static void transfer(bool is_stable)
{
    struct wio_store *stores[2] = {connect_for(60 * SECOND_NS), connect_for(60 * SECOND_NS)};
    struct wio_store_file *files[2];
    struct teller tellers[THREADS + 1] = {0};
    pthread_t threads[THREADS + 1];
    int64_t balances[ACCOUNTS];
    struct wio_error err = WIO_ERROR_INIT;
    for (unsigned i = 0; i < ACCOUNTS; i++) {
        balances[i] = START;
    }
    for (unsigned i = 0; i < 2; i++) {
        files[i] = open_file(stores[i], "/accounts", WIO_VIEW_INDEPENDENT, 8);
    }
    assert_ok(wio_store_pwrite(files[0], NULL, balances, sizeof(balances), 0, &err), &err);
    for (unsigned i = 0; i <= THREADS; i++) {
        tellers[i] = (struct teller){.store = stores[i % 2],
                                     .file = files[i % 2],
                                     .random = i + 1,
                                     .is_stable = is_stable,
                                     .err = WIO_ERROR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, i < THREADS ? work : audit, &tellers[i]),
                         0);
    }
    for (unsigned i = 0; i <= THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_ok(tellers[i].status, &tellers[i].err);
    }
    assert_int_equal(audit(&tellers[0]) == NULL, true);
    assert_ok(tellers[0].status, &tellers[0].err);
    for (unsigned i = 0; i < 2; i++) {
        wio_store_file_close(files[i]);
        wio_store_disconnect(stores[i]);
    }
}

static void transfers_keep_the_sum(void **state)
{
    (void)state;
    transfer(false);
}

static void stable_transfers_keep_the_sum(void **state)
{
    (void)state;
    transfer(true);
}

/* ---- the shared pointer -------------------------------------------------------------------- */

static void *append(void *context)
{
    struct teller *teller = context;
    for (unsigned i = 0; i < ROUNDS && teller->status == WIO_OK; i++) {
        char record[RECORD + 1];
        (void)snprintf(record, sizeof(record), "%03u %03u --------------", teller->from, i);
        record[RECORD - 1] = '\n';
        teller->status = wio_store_write(teller->file, NULL, record, RECORD, &teller->err);
    }
    return NULL;
}

/* Each record is there once, in one piece, behind the one that its thread wrote before. */
static void shared_pointers_give_each_its_own(void **state)
{
    (void)state;
    struct wio_store *stores[2] = {connect_for(60 * SECOND_NS), connect_for(60 * SECOND_NS)};
    struct wio_store_file *files[2];
    struct teller tellers[THREADS] = {0};
    pthread_t threads[THREADS];
    struct wio_error err = WIO_ERROR_INIT;
    unsigned next[THREADS] = {0};
    const size_t size = (size_t)THREADS * ROUNDS * RECORD;
    char *all = malloc(size + 1);
    size_t got = 0;
    for (unsigned i = 0; i < 2; i++) {
        files[i] = open_file(stores[i], "/records", WIO_VIEW_GLOBAL, 10);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        tellers[i] = (struct teller){
            .store = stores[i % 2], .file = files[i % 2], .from = i, .err = WIO_ERROR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, append, &tellers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_ok(tellers[i].status, &tellers[i].err);
    }
    assert_ok(wio_store_pread(files[0], NULL, all, size + 1, 0, &got, &err), &err);
    assert_int_equal(got, size);
    for (size_t i = 0; i < size; i += RECORD) {
        unsigned thread = THREADS;
        unsigned number = 0;
        assert_int_equal(sscanf(all + i, "%3u %3u", &thread, &number), 2);
        assert_true(thread < THREADS);
        assert_int_equal(number, next[thread]++);
        assert_int_equal(all[i + RECORD - 1], '\n');
    }
    free(all);
    for (unsigned i = 0; i < 2; i++) {
        wio_store_file_close(files[i]);
        wio_store_disconnect(stores[i]);
    }
}

/* ---- time-outs ----------------------------------------------------------------------------- */

/* The servers do not answer: each call comes back with the time-out, its memory free to go; when
 * they answer again, calls do, and what had timed out is whole or not there. */
static void no_call_outlasts_its_timeout(void **state)
{
    (void)state;
    enum { BYTES = 100000, CALLS = 70 };
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = connect_for(200 * MILLISECOND_NS);
    struct wio_store_file *file = open_file(store, "/slow", WIO_VIEW_INDEPENDENT, 1000);
    struct wio_store_txn *txn = NULL;
    size_t got = 0;
    assert_ok(wio_store_begin(store, NULL, &txn, &err), &err);
    served_pause(&served);
    uint64_t begin_ns = wio_clock_mono_ns();
    char *data = malloc(BYTES);
    memset(data, 'x', BYTES);
    assert_int_equal(wio_store_pwrite(file, NULL, data, BYTES, 0, &err), WIO_ERR_BUSY);
    assert_int_equal(err.sys_errno, ETIMEDOUT);
    assert_int_equal(wio_store_pread(file, NULL, data, BYTES, 0, &got, &err), WIO_ERR_BUSY);
    assert_int_equal(wio_store_pwrite(file, txn, data, BYTES, 0, &err), WIO_ERR_BUSY);
    assert_int_equal(wio_store_commit(txn, &err), WIO_ERR_BUSY);
    assert_int_equal(wio_store_mkdir(store, "/made", 0700, &err), WIO_ERR_BUSY);
    free(data);
    assert_true(wio_clock_mono_ns() - begin_ns < 10 * SECOND_NS);
    wio_store_end(txn);
    served_go_on(&served);
    /* an answer within the time-out is the machine's to give: again until it does */
    char byte = 0;
    enum wio_status status = WIO_ERR_BUSY;
    for (unsigned i = 0; i < CALLS && status != WIO_OK; i++) {
        status = wio_store_pread(file, NULL, &byte, 1, BYTES - 1, &got, &err);
    }
    assert_ok(status, &err);
    assert_true(got == 0 || byte == 'x');
    wio_store_file_close(file);
    wio_store_disconnect(store);
}

/* More calls than slots, all with a time-out in the past. */
static void abandoned_calls_leave_nothing(void **state)
{
    (void)state;
    enum { CALLS = 200 };
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = connect_for(20 * SECOND_NS);
    struct wio_store_file *file = NULL;
    const struct wio_store_open_params params = {.struct_size = sizeof(params),
                                                 .flags = O_RDWR | O_CREAT,
                                                 .mode = 0600,
                                                 .view = WIO_VIEW_INDEPENDENT,
                                                 .stripe_unit = 2,
                                                 .timeout_ns = MILLISECOND_NS};
    for (unsigned i = 0; i < CALLS && file == NULL; i++) {
        (void)!wio_store_file_open(store, "/past", &params, &file, &err);
    }
    assert_non_null(file);
    served_pause(&served);
    for (unsigned i = 0; i < CALLS; i++) {
        char text[4] = "past";
        assert_int_equal(wio_store_pwrite(file, NULL, text, 4, i, &err), WIO_ERR_BUSY);
    }
    served_go_on(&served);
    wio_store_file_close(file);
    struct wio_store_file *again = open_file(store, "/past", WIO_VIEW_INDEPENDENT, 2);
    assert_ok(wio_store_pwrite(again, NULL, "now", 3, 0, &err), &err);
    wio_store_file_close(again);
    wio_store_disconnect(store);
}

static void a_store_that_is_not_there_is_told(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    struct wio_store_params params = {.struct_size = sizeof(params),
                                      .address = "unix:/nowhere/at/all",
                                      .timeout_ns = 100 * MILLISECOND_NS};
    assert_int_equal(wio_store_connect(&params, &store, &err), WIO_ERR_BUSY);
    assert_non_null(strstr(err.message, "/nowhere/at/all is not connected"));
    params.address = "nonsense";
    assert_int_equal(wio_store_connect(&params, &store, &err), WIO_ERR_USAGE);
    params.address = "@/nowhere";
    assert_int_equal(wio_store_connect(&params, &store, &err), WIO_ERR_IO);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static struct wio_error connect_with(const char *key, const char *address)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    const struct wio_store_params params = {.struct_size = sizeof(params),
                                            .address = address,
                                            .key_file = key,
                                            .timeout_ns = 20 * SECOND_NS};
    err.status = wio_store_connect(&params, &store, &err);
    wio_store_disconnect(store);
    return err;
}

/* A file that no other user may read. */
static void write_secret(const char *path, const char *text)
{
    wio_test_write(path, text, strlen(text));
    assert_int_equal(chmod(path, S_IRUSR | S_IWUSR), 0);
}

static void keys_are_needed_where_there_is_one(void **state)
{
    (void)state;
    struct served keyed;
    static const char right[] =
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
    static const char wrong[] =
        "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
    char where[300];
    char at[300];
    char *right_path = wio_test_path("right");
    char *wrong_path = wio_test_path("wrong");
    char *none_path = wio_test_path("none");
    char *where_path = wio_test_path("where");
    struct wio_error err = WIO_ERROR_INIT;
    memset(&keyed, 0, sizeof(keyed));
    keyed.link.auth = WIO_WIRE_AUTH_KEY;
    assert_ok(wio_link_keys_begin(&err), &err);
    assert_ok(wio_link_key_parse(right, &keyed.link.key, &err), &err);
    served_begin_as(&keyed, 1);
    write_secret(right_path, right);
    write_secret(wrong_path, wrong);
    write_secret(none_path, "zz\n");
    (void)snprintf(where, sizeof(where), "%s\n%s", keyed.address, right);
    write_secret(where_path, where);
    (void)snprintf(at, sizeof(at), "@%s", where_path);
    assert_int_equal(connect_with(right_path, keyed.address).status, WIO_OK);
    assert_int_equal(connect_with(NULL, at).status, WIO_OK);
    assert_int_equal(connect_with(none_path, keyed.address).status, WIO_ERR_FORMAT);
    assert_int_equal(chmod(right_path, 0644), 0); /* other users can read it */
    assert_int_equal(connect_with(right_path, keyed.address).status, WIO_ERR_USAGE);
    err = connect_with(wrong_path, keyed.address);
    assert_int_equal(err.status, WIO_ERR_IO);
    assert_non_null(strstr(err.message, "is the key that of the store?"));
    err = connect_with(NULL, keyed.address);
    assert_int_equal(err.status, WIO_ERR_IO);
    served_end(&keyed);
    free(right_path);
    free(wrong_path);
    free(none_path);
    free(where_path);
}

int main(void)
{
#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SCENE(transfers_keep_the_sum),
        SCENE(stable_transfers_keep_the_sum),
        SCENE(shared_pointers_give_each_its_own),
        SCENE(no_call_outlasts_its_timeout),
        SCENE(abandoned_calls_leave_nothing),
        SCENE(a_store_that_is_not_there_is_told),
        SCENE(keys_are_needed_where_there_is_one),
    };
    return WIO_RUN(tests);
}
