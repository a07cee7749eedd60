/* SPDX-License-Identifier: Apache-2.0 */
#include "support/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/unit.h"

static unsigned long fail_at; /* 0 = never */
static unsigned long calls;

/* The linker's --wrap gives these names. */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);

static bool must_fail(void)
{
    if (fail_at == 0 || ++calls != fail_at) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return must_fail() ? NULL : __real_reallocarray(old, count, size);
}

unsigned wio_alloc_every_failure(enum wio_status (*work)(void *arg), void *arg)
{
    for (unsigned n = 1; n < 100000; n++) {
        fail_at = n;
        calls = 0;
        enum wio_status status = work(arg);
        bool has_failed = calls >= n;
        fail_at = 0;
        if (!has_failed) {
            assert_int_equal(status, WIO_OK);
            return n - 1;
        }
        assert_int_equal(status, WIO_ERR_NOMEM);
    }
    fail_msg("the work never gets by without a failure");
    return 0;
}
