/* SPDX-License-Identifier: Apache-2.0 */
#include "support/script_open.h"

#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/script.h"

struct wio_trace *script_open(const char *script)
{
    static unsigned count;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace;
    char name[32];
    (void)snprintf(name, sizeof(name), "trace%u", count++);
    char *dir = wio_test_path(name);
    assert_int_equal(mkdir(dir, 0777), 0);
    script_write(script, dir);
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    free(dir);
    return trace;
}
