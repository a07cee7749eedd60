/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIO_LOG_TAG "test/log"
#include "base/io.h"
#include "base/log.h"

static int evaluated;

static int count_me(void)
{
    return ++evaluated;
}

/* One program, one level: it is read once. What stderr gets goes into a file. */
static void only_wanted_levels_are_written(void **state)
{
    (void)state;
    char *path = wio_test_path("stderr");
    struct wio_blob blob = {0};
    char big[3000];
    memset(big, 'b', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    int saved = dup(STDERR_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(saved >= 0 && fd >= 0);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    WIO_LOG(WIO_LOG_WARN, "shown: n=%d", count_me());
    WIO_LOG(WIO_LOG_DEBUG, "hidden: n=%d", count_me());
    WIO_LOG(WIO_LOG_ERROR, "%s", big);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(fd);
    assert_ok(wio_io_read_file(path, 100000, &blob, NULL), NULL);
    const char *first = "whyio: warn: test/log: shown: n=1\nwhyio: error: test/log: bbb";
    assert_memory_equal(blob.data, first, strlen(first));
    assert_int_equal(blob.data[blob.size - 1], '\n');
    assert_true(blob.size < 1200);
    assert_int_equal(evaluated, 1);
    assert_int_equal(wio_log_level(), WIO_LOG_WARN);
    wio_blob_fini(&blob);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_wanted_levels_are_written)};
    setenv("WHYIO_LOG", "warn", 1);
    return WIO_RUN(tests);
}
