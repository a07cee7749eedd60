/* SPDX-License-Identifier: Apache-2.0 */
/* <whyio/store.h> with servers in a thread of the test: a client, and how its files are opened. */
#ifndef WIO_TESTS_STORE_API_SCENE_H
#define WIO_TESTS_STORE_API_SCENE_H

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

static inline struct wio_store *connect_as(const char *job)
{
    struct wio_store *made = NULL;
    const struct wio_store_params params = {.struct_size = sizeof(params),
                                            .address = served.address,
                                            .job = job,
                                            .timeout_ns = 20 * SECOND_NS};
    assert_ok(wio_store_connect(&params, &made, &err), &err);
    return made;
}

static inline int set_up(void **state)
{
    (void)state;
    served_begin(&served, 3);
    err = (struct wio_error)WIO_ERROR_INIT;
    store = connect_as("solver");
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    wio_store_disconnect(store);
    served_end(&served);
    return 0;
}

static inline struct wio_store_open_params how(int flags)
{
    return (struct wio_store_open_params){
        .struct_size = sizeof(struct wio_store_open_params), .flags = flags, .mode = 0644};
}

static inline struct wio_store_file *open_with(struct wio_store *from, const char *path,
                                               const struct wio_store_open_params *params)
{
    struct wio_store_file *file = NULL;
    assert_ok(wio_store_file_open(from, path, params, &file, &err), &err);
    return file;
}

/* Three segments, units of 16 bytes. */
static inline struct wio_store_file *open_striped(const char *path)
{
    struct wio_store_open_params params = how(O_RDWR | O_CREAT);
    params.view = WIO_VIEW_INDEPENDENT;
    params.stripe_unit = 16;
    return open_with(store, path, &params);
}

static inline void expect_errno(enum wio_status status, int sys_errno)
{
    assert_int_not_equal(status, WIO_OK);
    assert_int_equal(err.sys_errno, sys_errno);
    assert_true(err.message[0] != '\0');
    err = (struct wio_error)WIO_ERROR_INIT;
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
