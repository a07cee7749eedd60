/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "report/rendered.h"

static struct wio_trace *make_trace(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    const struct wio_frame frame = {"/no/such/app", "", 0x10};
    struct wio_segment *segment = NULL;
    struct wio_trace *trace = NULL;
    char *name = wio_test_path("a.seg");
    uint32_t id = 0;
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    assert_ok(wio_segment_string(segment, "/a\"b", 4, &id, &err), &err);
    assert_ok(wio_segment_source(segment, &frame, 1, &id, &err), &err);
    assert_ok(wio_segment_finish(segment, &err), &err);
    assert_ok(wio_trace_open(wio_test_dir(), &trace, &err), &err);
    free(name);
    return trace;
}

/* The ids of a damaged event are any numbers: they cost nothing. */
static void unknown_ids_are_null_and_take_no_memory(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_rendered rendered;
    struct wio_trace *trace = make_trace();
    assert_ok(wio_rendered_init(&rendered, trace, &err), &err);
    assert_string_equal(wio_rendered_path(&rendered, 1)->text, "\"/a\\\"b\"");
    assert_string_equal(wio_rendered_path(&rendered, UINT32_MAX)->text, "null");
    assert_string_equal(wio_rendered_source(&rendered, 1 << 20)->text,
                        "\"source\": null, \"stack\": null");
    assert_int_equal(rendered.source_count, 0);
    assert_string_equal(wio_rendered_source(&rendered, 1)->text,
                        "\"source\": \"app+0x10\", \"stack\": null");
    wio_rendered_fini(&rendered);
    wio_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_ids_are_null_and_take_no_memory),
    };
    return WIO_RUN(tests);
}
