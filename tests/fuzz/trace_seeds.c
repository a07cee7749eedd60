/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seeds of the trace parsers: `trace_seeds tests/data/corpus` after a change of the
 * format. They are small and made by hand; what fuzzing finds is added beside them by name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "trace/format/events.h"
#include "trace/txn/txn_rows.h"
#include "trace_fixture.h"
#include "txn_fixture.h"

#include "edge_fixture.h"
#include "ring_fixture.h"

static void save(const char *corpus, const char *parser, const char *name, const void *bytes,
                 size_t size)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", corpus, parser);
    assert_int_equal(wio_io_mkdirs(path, NULL), WIO_OK);
    (void)snprintf(path, sizeof(path), "%s/%s/%s", corpus, parser, name);
    wio_test_write(path, bytes, size);
}

static void save_events(const char *corpus, const char *name, enum event_style style,
                        uint32_t count)
{
    struct random_source random = {count};
    struct wio_event events[64];
    int64_t scratch[64];
    struct wio_events_head head = {.count = count};
    struct wio_pack pack = {0};
    struct wio_blob payload = {0};
    uint64_t clock_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        events[i] = random_event(&random, style, 0, 9, &clock_ns);
        events[i].call %= 64;
    }
    assert_int_equal(wio_events_encode(events, &head, scratch, &pack, &payload), WIO_OK);
    save(corpus, "events", name, payload.data, payload.size);
    wio_blob_fini(&payload);
    wio_pack_fini(&pack);
}

static void save_segment(const char *corpus, const char *name, uint32_t streams, uint32_t events)
{
    char *path = wio_test_path(name);
    struct wio_blob bytes = {0};
    write_ordinary_segment(path, streams, events, 1);
    assert_int_equal(wio_io_read_file(path, 1 << 20, &bytes, NULL), WIO_OK);
    save(corpus, "segment", name, bytes.data, bytes.size);
    wio_blob_fini(&bytes);
    free(path);
}

/* All kinds in the order of a segment, each (kind, 2 bytes length, payload). */
static void save_tables(const char *corpus)
{
    static const char tables[] = "\1\4\0\2\2ab"
                                 "\2\12\0\1\2\3abc\0\1d\0"
                                 "\3\22\0\1\5pread\5pread\4read"
                                 "\4\7\0\1\2\1\1\2\20\0"
                                 "\5\15\0\1\13\1\2\310\1\3\1\2\7\2ab"
                                 "\6\13\0\1\0\14\0\2\0\1\2\3\4\0"
                                 "\7\10\0\1\1\2\3\4\1\2\3";
    save(corpus, "table", "all", tables, sizeof(tables) - 1);
}

/* The fixed part of the header, then the slots in use. */
static void save_ring(const char *corpus, const char *name, struct ring_builder *ring)
{
    uint32_t slots = ring->next_slot[0];
    size_t size = 0;
    uint8_t *bytes = ring_bytes(ring, &size);
    struct wio_blob input = {0};
    assert_int_equal(wio_blob_put(&input, bytes, sizeof(struct wio_ring_header)), WIO_OK);
    assert_int_equal(
        wio_blob_put(&input, bytes + WIO_RING_HEADER_BYTES, (size_t)slots * WIO_SLOT_BYTES),
        WIO_OK);
    save(corpus, "ring", name, input.data, input.size);
    wio_blob_fini(&input);
    free(bytes);
}

static void save_rings(const char *corpus)
{
    struct ring_builder ring;
    struct wio_slot_ext *ext = NULL;
    ring_begin(&ring, 100, 5000000000ull);
    ring_clock(&ring, 0, 100, 100);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_ARGV, 0, "app\0x", 6);
    ring_string(&ring, 0, 1, 0, "/a/b");
    ring_string(&ring, 0, 3, 1, "../c/./d");
    ring_event(&ring, 0, "stat")->path = 3;
    struct wio_slot_event *event = ring_event_ext(&ring, 0, "aio_read", &ext);
    event->result = WIO_RESULT_PENDING;
    ext->key = 5;
    ring_complete(&ring, 0, 5, -5);
    ring_clock(&ring, 0, 200, 200);
    ring_event(&ring, 0, "close")->fd = 3;
    save_ring(corpus, "mixed", &ring);

    ring_begin(&ring, 100, 5000000000ull);
    ring.header.clock = WIO_CLOCK_TSC;
    ring.header.end = WIO_END_NONE;
    ring_clock(&ring, 0, 100, 100);
    ring_text(&ring, 0, WIO_SLOT_MODULE, 0, 0, "\0\0\0\0\0\0\0\0/lib/x.so", 17);
    ring.chunks[0][2].text.lo = 0x1000;
    ring.chunks[0][2].text.hi = 0x9000;
    ring_text(&ring, 0, WIO_SLOT_STACK, 7, 0, "\0\x20\0\0\0\0\0\0\0\x30\0\0\0\0\0\0", 16);
    event = ring_event(&ring, 0, "read");
    event->flags = WIO_EVENT_STACK;
    event->source = 7;
    ring_event(&ring, 0, "write")->source = 0x2000;
    save_ring(corpus, "sources", &ring);
}

/* Of two streams of 100 events, as fuzz_edges.c has them. */
static void save_edges(const char *corpus, const char *name, size_t edges)
{
    struct fixture fixture = {0};
    char path[4200];
    struct wio_blob bytes = {0};
    struct wio_trace *trace = NULL;
    (void)snprintf(fixture.dir, sizeof(fixture.dir), "%s/edges", wio_test_dir());
    assert_int_equal(wio_io_mkdirs(fixture.dir, NULL), WIO_OK);
    (void)snprintf(path, sizeof(path), "%s/a.seg", fixture.dir);
    (void)unlink(path);
    write_ordinary_segment(path, 2, 100, 1);
    assert_int_equal(wio_trace_open(fixture.dir, &trace, NULL), WIO_OK);
    struct edge_rows rows = random_edge_rows(trace, edges, 3);
    const struct wio_clock_row clock = {"n", 5, 7, 9};
    write_edge_rows(trace, &rows, &clock);
    edge_rows_fini(&rows);
    wio_trace_close(trace);
    (void)snprintf(path, sizeof(path), "%s/trace.edges", fixture.dir);
    assert_int_equal(wio_io_read_file(path, 1u << 20, &bytes, NULL), WIO_OK);
    save(corpus, "edges", name, bytes.data, bytes.size);
    wio_blob_fini(&bytes);
}

static void save_transactions(const char *corpus, const char *name, uint32_t count, uint64_t seed)
{
    struct wio_txn_coder coder = {0};
    struct wio_blob bytes = {0};
    struct txn_rows rows = txn_rows_make(count, seed);
    for (uint32_t i = 0; i < rows.count; i++) {
        assert_int_equal(wio_txn_row_put(&coder, &rows.rows[i], &bytes), WIO_OK);
    }
    save(corpus, "txn", name, bytes.data, bytes.size);
    txn_rows_fini(&rows);
    wio_txn_coder_fini(&coder);
    wio_blob_fini(&bytes);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: trace_seeds CORPUS\n");
        return 2;
    }
    save_events(argv[1], "wild", EVENTS_WILD, 20);
    save_events(argv[1], "ordinary", EVENTS_ORDINARY, 60);
    save_events(argv[1], "one", EVENTS_WILD, 1);
    save_segment(argv[1], "empty.seg", 1, 0);
    save_segment(argv[1], "small.seg", 2, 10);
    save_tables(argv[1]);
    save_rings(argv[1]);
    save_edges(argv[1], "none", 0);
    save_edges(argv[1], "few", 10);
    save_edges(argv[1], "more", 60);
    save_transactions(argv[1], "few", 8, 1);
    save_transactions(argv[1], "more", 60, 2);
    return 0;
}
