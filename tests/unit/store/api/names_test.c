/* SPDX-License-Identifier: Apache-2.0 */
/* A catalogue over real sockets that is asked for more than it can do: admission of names. Counts
 * only: how much is done in time is a matter of the machine (tests/sim/overload_names_test.c has it
 * in virtual time). */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <whyio/store.h>

#include "support/store/served.h"

#define MILLISECOND_NS UINT64_C(1000000)
/* 48 threads and 2 ms each: no call that waits for all others is done in its time. */
#define DEADLINE_NS (50 * MILLISECOND_NS)

enum { STORES = 4, THREADS = 48, ROUNDS = 12, WORK_US = 2000 };

enum fate { FATE_DONE, FATE_REFUSED, FATE_UNKNOWN };

struct caller {
    pthread_t thread;
    struct wio_store *store;
    unsigned index;
    unsigned looks;   /* that were answered */
    unsigned refused; /* all calls that were, by EBUSY */
    unsigned wrong;
    enum fate made[ROUNDS];
};

static struct served served;
static struct caller callers[THREADS];

static struct wio_store *connect_for(uint64_t timeout_ns, const char *job)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    const struct wio_store_params params = {.struct_size = sizeof(params),
                                            .address = served.address,
                                            .job = job,
                                            .timeout_ns = timeout_ns};
    assert_ok(wio_store_connect(&params, &store, &err), &err);
    return store;
}

static void name_of(const struct caller *caller, unsigned round, char path[32])
{
    (void)snprintf(path, 32, "/c%u.%u", caller->index, round);
}

/* What a call that was not done says. */
static enum fate fate_of(struct caller *caller, enum wio_status status, const struct wio_error *err)
{
    if (status == WIO_OK) {
        return FATE_DONE;
    }
    caller->refused += err->sys_errno == EBUSY;
    caller->wrong += err->sys_errno != EBUSY && err->sys_errno != ETIMEDOUT;
    return err->sys_errno == EBUSY ? FATE_REFUSED : FATE_UNKNOWN;
}

static enum fate make(struct caller *caller, const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    const struct wio_store_open_params how = {
        .struct_size = sizeof(how), .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600};
    enum wio_status status = wio_store_file_open(caller->store, path, &how, &file, &err);
    wio_store_file_close(file);
    return fate_of(caller, status, &err);
}

static enum fate look(struct caller *caller, const char *path)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    enum wio_status status = wio_store_stat(caller->store, path, WIO_STORE_NO_SIZE, &attr, &err);
    return fate_of(caller, status, &err);
}

static void *call(void *context)
{
    struct caller *caller = context;
    char path[32];
    for (unsigned round = 0; round < ROUNDS; round++) {
        name_of(caller, round, path);
        caller->made[round] = make(caller, path);
        if (caller->made[round] == FATE_DONE) {
            caller->looks += look(caller, path) == FATE_DONE;
        }
    }
    return NULL;
}

/* What was done is there, and what was refused is not: it had no effect. */
static void check_names(struct wio_store *store)
{
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct wio_error err = WIO_ERROR_INIT;
            struct wio_store_attr attr = {.struct_size = sizeof(attr)};
            char path[32];
            name_of(&callers[i], round, path);
            enum wio_status status = wio_store_stat(store, path, WIO_STORE_NO_SIZE, &attr, &err);
            if (callers[i].made[round] == FATE_DONE) {
                assert_ok(status, &err);
            } else if (callers[i].made[round] == FATE_REFUSED) {
                assert_int_equal(err.sys_errno, ENOENT);
            }
        }
    }
}

static void run_callers(struct wio_store *stores[STORES])
{
    memset(callers, 0, sizeof(callers));
    for (unsigned i = 0; i < THREADS; i++) {
        callers[i].index = i;
        callers[i].store = stores[i % STORES];
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(callers[i].thread, NULL);
    }
}

static void overload(enum wio_admit_kind kind)
{
    struct wio_store *stores[STORES];
    uint64_t paced = 0;
    unsigned done = 0;
    unsigned refused = 0;
    memset(&served, 0, sizeof(served));
    served.kind = kind;
    served.tenant_by = WIO_ADMIT_BY_CLIENT;
    served.names_work_us = WORK_US;
    served_begin_as(&served, 1);
    for (unsigned i = 0; i < STORES; i++) {
        stores[i] = connect_for(DEADLINE_NS, "many");
    }
    run_callers(stores);
    for (unsigned i = 0; i < STORES; i++) {
        struct wio_store_info info = {.struct_size = sizeof(info)};
        wio_store_get_info(stores[i], &info);
        paced += info.held_back + info.overloads;
        wio_store_disconnect(stores[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].wrong, 0);
        done += callers[i].looks;
        refused += callers[i].refused;
        for (unsigned round = 0; round < ROUNDS; round++) {
            done += callers[i].made[round] == FATE_DONE;
        }
    }
    printf("# %s: %u calls done, %u refused, %llu held back or heard BUSY\n",
           wio_admit_kind_name(kind), done, refused, (unsigned long long)paced);
    assert_true(done > 0);
    assert_true(paced > 0);
    struct wio_store *store = connect_for(20000 * MILLISECOND_NS, "one");
    check_names(store);
    wio_store_disconnect(store);
    served_end(&served);
}

static void credit_admits_names(void **state)
{
    (void)state;
    overload(WIO_ADMIT_CREDIT);
}

static void hint_admits_names(void **state)
{
    (void)state;
    overload(WIO_ADMIT_HINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_admits_names),
        cmocka_unit_test(hint_admits_names),
    };
    return WIO_RUN(tests);
}
