/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What finding edges costs: `join_bench DIR EVENTS RANKS` makes a trace of so many synchronisation
 * events (a ring of messages, a barrier after every 16th, a contended lock file), finds its edges
 * and reads them back. Prints time per event, memory, and bytes per edge.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <whyio/segment.h>

#include "base/clock.h"
#include "edges/edges.h"
#include "ops/calls.h"

#define ROUND_NS 100000ull

struct maker {
    struct wio_segment *segment;
    struct wio_error err;
    uint32_t *streams;
    uint32_t ranks;
    uint32_t path;
    uint64_t events;
};

static void must(enum wio_status status, const struct wio_error *err)
{
    char text[2048];
    if (status != WIO_OK) {
        wio_error_format(err, text, sizeof(text));
        fprintf(stderr, "join_bench: %s\n", text);
        exit(1);
    }
}

static void add(struct maker *maker, uint32_t rank, enum wio_op op, uint64_t begin_ns,
                uint64_t end_ns, const int64_t *args)
{
    struct wio_event event = {.op = (uint16_t)op,
                              .stream = maker->streams[rank],
                              .t_ns = begin_ns,
                              .dur_ns = end_ns - begin_ns,
                              .fd = op == WIO_OP_flock ? 3 : WIO_NO_FD,
                              .fd2 = WIO_NO_FD,
                              .path = op == WIO_OP_flock ? maker->path : 0,
                              .offset = WIO_NO_OFFSET,
                              .offset2 = WIO_NO_OFFSET,
                              .size = 8};
    memcpy(event.arg, args, sizeof(event.arg));
    must(wio_segment_append(maker->segment, &event, &maker->err), &maker->err);
    maker->events++;
}

static void begin(struct maker *maker, const char *dir)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    char name[4096];
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    must(wio_segment_create(name, &params, &maker->segment, &maker->err), &maker->err);
    must(wio_segment_string(maker->segment, "/data/lock", 10, &maker->path, &maker->err),
         &maker->err);
    for (uint32_t r = 0; r < maker->ranks; r++) {
        const struct wio_process_info process = {.pid = 1000 + (int32_t)r,
                                                 .rank = (int32_t)r,
                                                 .host = "n",
                                                 .job = "",
                                                 .exe = "",
                                                 .argv = "",
                                                 .cwd = "",
                                                 .parent = UINT32_MAX};
        uint32_t index = 0;
        must(wio_segment_process(maker->segment, &process, &index, &maker->err), &maker->err);
        must(wio_segment_stream(maker->segment, index, process.pid, 0, &maker->streams[r],
                                &maker->err),
             &maker->err);
        add(maker, r, WIO_OP_mpi_comm, 0, 0, (int64_t[4]){5, r, maker->ranks, 0});
    }
}

/* One round: every rank sends to the right and receives from the left; now and then more. */
static void add_round(struct maker *maker, uint64_t round)
{
    uint64_t t = 1000 + round * ROUND_NS;
    for (uint32_t r = 0; r < maker->ranks; r++) {
        uint32_t left = (r + maker->ranks - 1) % maker->ranks;
        uint32_t right = (r + 1) % maker->ranks;
        add(maker, r, WIO_OP_MPI_Send, t + r, t + r + 500, (int64_t[4]){5, right, 1, 0});
        add(maker, r, WIO_OP_MPI_Recv, t + r + 1000, t + r + 3000, (int64_t[4]){5, left, 1, 0});
        if (round % 4 == 0) {
            uint64_t at = t + 10000 + r * 100;
            add(maker, r, WIO_OP_flock, t + 5000 + r, at, (int64_t[4]){LOCK_EX});
            add(maker, r, WIO_OP_flock, at + 50, at + 60, (int64_t[4]){LOCK_UN});
        }
        if (round % 16 == 15) {
            add(maker, r, WIO_OP_MPI_Barrier, t + 50000 + r, t + 60000,
                (int64_t[4]){5, (int64_t)(round / 16), -1, 0});
        }
    }
}

static double peak_mib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void make(const char *dir, uint64_t events, uint32_t ranks)
{
    struct maker maker = {
        .err = WIO_ERROR_INIT, .ranks = ranks, .streams = calloc(ranks, sizeof(uint32_t))};
    if (maker.streams == NULL) {
        exit(4);
    }
    begin(&maker, dir);
    for (uint64_t round = 0; maker.events < events; round++) {
        add_round(&maker, round);
    }
    must(wio_segment_finish(maker.segment, &maker.err), &maker.err);
    free(maker.streams);
}

static void measure(const char *dir)
{
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_trace_info info;
    struct wio_edge_info edges;
    struct stat st;
    char name[4096];
    must(wio_trace_open(dir, &trace, &err), &err);
    wio_trace_get_info(trace, &info);
    double before_mib = peak_mib();
    uint64_t start_ns = wio_clock_mono_ns();
    must(wio_join(trace, &params, &err), &err);
    double seconds = (double)(wio_clock_mono_ns() - start_ns) / 1e9;
    wio_edge_file_get_info(wio_trace_edges(trace), &edges);
    (void)snprintf(name, sizeof(name), "%s/trace.edges", dir);
    double bytes = stat(name, &st) == 0 ? (double)st.st_size : 0;
    printf("%" PRIu64 " events: %" PRIu64 " edges, %" PRIu64 " collectives in %.2f s, %.0f ns per "
           "event, %.0f MiB more at the peak, %.2f bytes per edge and member\n",
           info.events, edges.edges, edges.collectives, seconds,
           seconds / (double)info.events * 1e9, peak_mib() - before_mib,
           bytes / (double)(edges.edges + edges.members));
    wio_trace_close(trace);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: join_bench DIR EVENTS RANKS\n");
        return 2;
    }
    (void)mkdir(argv[1], 0777);
    make(argv[1], strtoull(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10));
    measure(argv[1]);
    return 0;
}
