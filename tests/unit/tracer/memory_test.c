/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <whyio/event.h>

#include "tracer/memory.h"

#define PAGE 4096

static uint64_t address_of(const void *place)
{
    return (uint64_t)(uintptr_t)place;
}

/* A page that can be read, and one behind it that cannot. */
static char *make_page(void)
{
    char *page =
        mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(mprotect(page + PAGE, PAGE, PROT_NONE), 0);
    return page;
}

static void texts(void **state)
{
    char found[2 * PAGE];
    char *page = make_page();
    (void)state;
    memset(page, 'a', PAGE);
    page[PAGE - 1] = '\0'; /* the last byte that can be read */
    assert_int_equal(tracer_memory_text(getpid(), address_of(page), found, sizeof(found)),
                     PAGE - 1);
    assert_int_equal(strlen(found), PAGE - 1);
    assert_int_equal(tracer_memory_text(getpid(), address_of(page + PAGE - 1), found, 2), 0);
    assert_int_equal(tracer_memory_text(getpid(), address_of(page), found, 100), -1);
    page[PAGE - 1] = 'a'; /* goes on where nothing can be read */
    assert_int_equal(tracer_memory_text(getpid(), address_of(page), found, sizeof(found)), -1);
    assert_int_equal(tracer_memory_text(getpid(), 0, found, sizeof(found)), -1);
    assert_int_equal(tracer_memory_text(getpid(), UINT64_MAX, found, sizeof(found)), -1);
    (void)munmap(page, 2 * (size_t)PAGE);
}

static void vectors(void **state)
{
    struct iovec items[100];
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        items[i] = (struct iovec){NULL, i};
    }
    assert_int_equal(tracer_memory_vector(getpid(), address_of(items), 100), 4950);
    assert_int_equal(tracer_memory_vector(getpid(), address_of(items), 0), 0);
    assert_true(tracer_memory_vector(getpid(), 8, 3) == WIO_NO_SIZE);
    assert_true(tracer_memory_vector(getpid(), address_of(items), UINT64_MAX) == WIO_NO_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(vectors)};
    return WIO_RUN(tests);
}
