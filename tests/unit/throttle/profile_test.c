/* SPDX-License-Identifier: Apache-2.0 */
/* What is left open by a run in which no node was held. */
#include "throttle/rules/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <whyio/segment.h>

#include "node.h"
#include "ops/calls.h"
#include "support/unit.h"

#define NODES 2
#define MS UINT64_C(1000000)

static void add(struct wio_segment *segment, uint32_t stream, enum wio_op op, uint64_t t_ns,
                uint64_t dur_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_event event = {.op = (uint16_t)op,
                                    .flags = op == WIO_OP_pwrite ? WIO_EVENT_HOLD : 0,
                                    .stream = stream,
                                    .t_ns = t_ns,
                                    .dur_ns = dur_ns,
                                    .fd = WIO_NO_FD,
                                    .fd2 = WIO_NO_FD,
                                    .offset = WIO_NO_OFFSET,
                                    .offset2 = WIO_NO_OFFSET};
    assert_ok(wio_segment_append(segment, &event, &err), &err);
}

/* 2 s in two writes, with so many naps of 1 ms between them, one behind the other. */
static void write_life(struct wio_segment *segment, uint32_t stream, unsigned naps)
{
    add(segment, stream, WIO_OP_pwrite, 0, 1000 * MS);
    for (unsigned i = 0; i < naps; i++) {
        add(segment, stream, WIO_OP_usleep, (1000 + i) * MS, MS);
    }
    add(segment, stream, WIO_OP_pwrite, (1000 + naps) * MS, (1000 - naps) * MS);
}

static void make_trace(const char *dir, unsigned naps, const struct wio_roster_node *nodes)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = NULL;
    char name[512];
    assert_int_equal(mkdir(dir, 0777), 0);
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    for (unsigned n = 0; n < NODES; n++) {
        uint32_t stream = add_node(segment, nodes[n].pid, -1);
        write_life(segment, stream, naps);
    }
    assert_ok(wio_segment_finish(segment, &err), &err);
}

static bool is_open(const char *name, unsigned naps)
{
    struct wio_roster_node nodes[NODES] = {{.pid = 100, .tid = 100, .ops = 2},
                                           {.pid = 101, .tid = 101, .ops = 2}};
    const struct wio_roster roster = {.nodes = nodes, .count = NODES};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_profile profile;
    char *dir = wio_test_path(name);
    make_trace(dir, naps, nodes);
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    assert_ok(wio_profile_read(trace, &roster, &profile, &err), &err);
    assert_int_equal(profile.nodes[0].unexplained_ns, naps * MS);
    bool result = wio_profile_is_open(&profile);
    wio_profile_fini(&profile);
    wio_trace_close(trace);
    free(dir);
    return result;
}

static void naps_in_a_row_count_once(void **state)
{
    (void)state;
    assert_false(is_open("few", 10)); /* half a percent of its life */
    assert_true(is_open("many", 30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(naps_in_a_row_count_once),
    };
    return WIO_RUN(tests);
}
