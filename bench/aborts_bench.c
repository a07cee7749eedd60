/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to explain transactions: rows a second of both analyses on one core, from memory,
 * with 64 transactions active, and with 1,024 and 7 % refusals; the same read from a trace; memory.
 * One table with the targets beside it.
 *
 *     aborts_bench [ROWS]     default 4,000,000
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "explain/aborts/aborts.h"
#include "seal/seal.h"

#define SERVERS 4u
#define ORIGINS 16u
#define MADE 4096u /* rows that are made before they are looked at: making does not count */

static void check(enum wio_status status, const struct wio_error *err)
{
    char text[2048];
    if (status != WIO_OK) {
        wio_error_format(err, text, sizeof(text));
        fprintf(stderr, "aborts_bench: %s\n", text);
        exit(1);
    }
}

/* Processor time: the analysis has one thread and waits for nothing. */
static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Clients in turn: begin, one request, release, end; some are refused by the one before. */
struct maker {
    uint32_t clients;
    uint32_t refused_percent;
    uint64_t turn;
    uint64_t random;
    struct wio_txn_blocker blockers[MADE];
};

static uint64_t next_random(struct maker *maker)
{
    maker->random = maker->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return maker->random >> 33;
}

static struct wio_txn_name name_of(uint64_t client, uint64_t number)
{
    return (struct wio_txn_name){.client = client + 1, .number = number, .attempt = 1};
}

static void make_row(struct maker *maker, uint32_t i, struct wio_txn_row *row)
{
    uint64_t round = maker->turn / maker->clients;
    uint64_t client = maker->turn % maker->clients;
    uint32_t step = (uint32_t)((round + client) % 4);
    uint64_t number = (round + client) / 4;
    uint64_t from = client * 4096;
    bool is_refused = (client * 31 + number * 17) % 100 < maker->refused_percent;
    static const uint8_t kinds[] = {WIO_TXN_BEGIN, WIO_TXN_ANSWER, WIO_TXN_RELEASE, WIO_TXN_END};
    *row = (struct wio_txn_row){.t_ns = maker->turn * 100,
                                .txn = name_of(client, number),
                                .kind = kinds[step],
                                .origin = (uint32_t)(1 + client % ORIGINS),
                                .server = WIO_TXN_NO_SERVER,
                                .outcome = is_refused ? WIO_TXN_ENDED_ABORTED : WIO_TXN_COMMITTED};
    if (step == 1 || step == 2) {
        row->server = (uint32_t)(client % SERVERS);
    }
    if (step == 1) {
        row->range = (struct wio_txn_range){.file = client % 4, .from = from, .to = from + 4096};
        row->mode = 1;
        row->op = 17;
        row->run_ns = 50 + next_random(maker) % 50;
        row->bytes = 4096;
    }
    if (step == 1 && is_refused) {
        row->result = WIO_TXN_REFUSED;
        maker->blockers[i] =
            (struct wio_txn_blocker){.txn = name_of((client + SERVERS) % maker->clients, number),
                                     .range = row->range,
                                     .origin = row->origin,
                                     .mode = 1};
        row->blockers = &maker->blockers[i];
        row->blocker_count = row->blocker_listed = 1;
    }
    maker->turn++;
}

static void fill_sources(struct wio_aborts *aborts)
{
    aborts->sources.origins = calloc(ORIGINS + 1, sizeof(*aborts->sources.origins));
    for (uint32_t i = 1; aborts->sources.origins != NULL && i <= ORIGINS; i++) {
        aborts->sources.origins[i] = (struct wio_abort_place){1, i};
        aborts->sources.origin_count = i + 1;
    }
}

static double from_memory(uint64_t rows, uint32_t clients, uint32_t refused_percent)
{
    static struct maker maker;
    static struct wio_txn_row made[MADE];
    struct wio_aborts aborts = {0};
    uint64_t spent_ns = 0;
    maker = (struct maker){.clients = clients, .refused_percent = refused_percent};
    wio_aborts_init(&aborts);
    fill_sources(&aborts);
    for (uint64_t done = 0; done < rows; done += MADE) {
        for (uint32_t i = 0; i < MADE; i++) {
            make_row(&maker, i, &made[i]);
        }
        uint64_t begin = cpu_ns();
        for (uint32_t i = 0; i < MADE; i++) {
            check(wio_aborts_row(&aborts, &made[i]), NULL);
        }
        spent_ns += cpu_ns() - begin;
    }
    wio_aborts_finish(&aborts);
    fprintf(stderr, "%u active: %llu attempts, %llu aborts, classic named %llu\n", clients,
            (unsigned long long)aborts.totals.attempts, (unsigned long long)aborts.totals.aborts,
            (unsigned long long)aborts.classic.named);
    wio_aborts_fini(&aborts);
    return (double)rows * 1e3 / (double)spent_ns;
}

static void write_trace(const char *dir, uint64_t rows)
{
    static struct maker maker;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    struct wio_segment *segment = NULL;
    struct wio_txn_writer *writer = NULL;
    char name[300];
    maker = (struct maker){.clients = 64, .refused_percent = 1};
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    check(wio_segment_create(name, &params, &segment, &err), &err);
    check(wio_txn_writer_create(segment, &writer, &err), &err);
    for (uint32_t i = 0; i < ORIGINS; i++) {
        char place[32];
        uint32_t id = 0;
        (void)snprintf(place, sizeof(place), "step (sim.c:%u)", i);
        const struct wio_txn_origin origin = {"job", "/bin/sim", "node", place};
        check(wio_txn_writer_origin(writer, &origin, &id, &err), &err);
    }
    for (uint64_t i = 0; i < rows; i++) {
        struct wio_txn_row row;
        make_row(&maker, 0, &row);
        check(wio_txn_writer_put(writer, &row, &err), &err);
    }
    check(wio_txn_writer_finish(writer, &err), &err);
    wio_txn_writer_destroy(writer);
    check(wio_segment_finish(segment, &err), &err);
}

static double from_trace(uint64_t rows)
{
    char dir[] = "/tmp/whyio-aborts-XXXXXX";
    char name[300];
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_aborts *aborts = NULL;
    struct stat st;
    if (mkdtemp(dir) == NULL) {
        exit(1);
    }
    write_trace(dir, rows);
    check(wio_trace_open(dir, &trace, &err), &err);
    uint64_t begin = cpu_ns();
    check(wio_aborts_of(trace, &aborts, &err), &err);
    uint64_t spent_ns = cpu_ns() - begin;
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    if (stat(name, &st) == 0) {
        fprintf(stderr, "%.2f B/row on disk\n", (double)st.st_size / (double)rows);
    }
    (void)unlink(name);
    (void)rmdir(dir);
    return (double)rows * 1e3 / (double)spent_ns;
}

static void line(const char *what, double measured, const char *unit, double target, bool is_met)
{
    printf("  %-42s %10.2f %-10s %8.2f  %s\n", what, measured, unit, target,
           is_met ? "met" : "missed");
}

int main(int argc, char **argv)
{
    uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
    struct rusage usage;
    printf("  %-42s %10s %-10s %8s\n", "transactions, both analyses", "measured", "", "target");
    double few = from_memory(rows, 64, 0);
    line("from memory, 64 active", few, "M rows/s", 10, few >= 10);
    double many = from_memory(rows, 1024, 7);
    line("from memory, 1,024 active, 7 % refused", many, "M rows/s", 2, many >= 2);
    double read = from_trace(rows);
    line("from a trace, 64 active", read, "M rows/s", 6, read >= 6);
    (void)getrusage(RUSAGE_SELF, &usage);
    double mib = (double)usage.ru_maxrss / 1024;
    line("memory", mib, "MiB", 64, mib <= 64);
    return 0;
}
