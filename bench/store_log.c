/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a commit to the log costs beside a raw fdatasync: an own log, SQLite, and one write and
 * fdatasync of a file whose blocks are written already take turns in one run; `to fdatasync` is the
 * median of the ratios of the turns.
 *
 *     store_log DIR [ROUNDS]        DIR is on the device that is measured
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "store/log/log.h"
#include "store_io.h"

enum { PAYLOAD = 4096, RAW_BYTES = 64 << 20, ROUNDS = 400, LOGS = 2, CHECKPOINT = 40 << 20 };

struct raw {
    int fd;
    off_t offset;
};

struct log {
    const char *name;
    struct wio_io *io;
    struct wio_log *log;
    unsigned long flushes;
};

struct series {
    double *us;
    unsigned count;
};

static char payload[64 * PAYLOAD];

static void stop(const char *what, const struct wio_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err != NULL ? err->message : strerror(errno));
    exit(3);
}

static struct raw open_raw(const char *dir)
{
    char path[4096];
    struct raw raw = {0, 0};
    snprintf(path, sizeof(path), "%s/raw", dir);
    raw.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (raw.fd < 0) {
        stop(path, NULL);
    }
    for (off_t at = 0; at < RAW_BYTES; at += (off_t)sizeof(payload)) {
        if (pwrite(raw.fd, payload, sizeof(payload), at) != (ssize_t)sizeof(payload)) {
            stop(path, NULL);
        }
    }
    if (fsync(raw.fd) != 0) {
        stop(path, NULL);
    }
    return raw;
}

static void commit_raw(struct raw *raw, unsigned batch)
{
    size_t bytes = (size_t)batch * PAYLOAD;
    raw->offset = raw->offset + (off_t)bytes > RAW_BYTES ? 0 : raw->offset;
    if (pwrite(raw->fd, payload, bytes, raw->offset) != (ssize_t)bytes || fdatasync(raw->fd) != 0) {
        stop("raw", NULL);
    }
    raw->offset += (off_t)bytes;
}

static void open_log(struct log *log, const char *dir, const char *name)
{
    char path[4096];
    char below[4096 + 8];
    struct wio_error err = WIO_ERROR_INIT;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    snprintf(below, sizeof(below), "%s/log", path);
    if (wio_io_mkdirs(below, &err) != WIO_OK) {
        stop(path, &err);
    }
    *log = (struct log){.name = name, .io = store_io_open(path)};
    struct wio_log_config config = {.io = log->io, .may_create = true};
    enum wio_status status = strcmp(name, "sqlite") == 0
                                 ? wio_log_open_sqlite(&config, &log->log, &err)
                                 : wio_log_open_own(&config, &log->log, &err);
    if (status != WIO_OK) {
        stop(name, &err);
    }
}

static void commit_log(struct log *log, unsigned batch)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log_record record = {.kind = WIO_LOG_COMMIT, .redo = payload, .redo_bytes = PAYLOAD};
    unsigned long before = store_io_flushes(log->io);
    uint64_t lsn = 0;
    for (unsigned i = 0; i < batch; i++) {
        if (wio_log_append(log->log, &record, 1, &lsn, &err) != WIO_OK) {
            stop(log->name, &err);
        }
    }
    if (wio_log_flushed(log->log, NULL, &err) != WIO_OK) {
        stop(log->name, &err);
    }
    store_io_turn(log->io);
    log->flushes += store_io_flushes(log->io) - before;
}

/* Outside of what is measured. */
static void checkpoint(struct log *log)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log_state state;
    if (wio_log_flushed(log->log, &state, &err) != WIO_OK) {
        stop(log->name, &err);
    }
    if (state.used_bytes > CHECKPOINT &&
        wio_log_checkpoint(log->log, state.durable_lsn + 1, &err) != WIO_OK) {
        stop(log->name, &err);
    }
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;
    return (first > second) - (first < second);
}

static double quantile(struct series *series, double q)
{
    qsort(series->us, series->count, sizeof(*series->us), compare);
    return series->us[(unsigned)(q * (series->count - 1))];
}

static void add(struct series *series, uint64_t begin, unsigned batch)
{
    series->us[series->count++] = (double)(wio_clock_mono_ns() - begin) / 1e3 / batch;
}

/* Of the turns one by one: before quantile() sorts them. */
static double ratio(const struct series *series, const struct series *base)
{
    struct series ratios = {calloc(series->count, sizeof(double)), series->count};
    if (ratios.us == NULL) {
        stop("memory", NULL);
    }
    for (unsigned i = 0; i < series->count; i++) {
        ratios.us[i] = series->us[i] / base->us[i];
    }
    double median = quantile(&ratios, 0.5);
    free(ratios.us);
    return median;
}

static void print_row(const char *name, unsigned batch, struct series *series, double to_raw,
                      double flushes)
{
    printf("| %-9s | %5u | %9.1f | %9.1f | %13.2f | %18.3f |\n", name, batch, quantile(series, 0.5),
           quantile(series, 0.99), to_raw, flushes);
}

static void measure(struct raw *raw, struct log logs[LOGS], unsigned batch, unsigned rounds)
{
    struct series series[LOGS + 1];
    for (unsigned i = 0; i <= LOGS; i++) {
        series[i] = (struct series){calloc(rounds, sizeof(double)), 0};
        if (series[i].us == NULL) {
            stop("memory", NULL);
        }
    }
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t begin = wio_clock_mono_ns();
        commit_raw(raw, batch);
        add(&series[LOGS], begin, batch);
        for (unsigned i = 0; i < LOGS; i++) {
            begin = wio_clock_mono_ns();
            commit_log(&logs[i], batch);
            add(&series[i], begin, batch);
            checkpoint(&logs[i]);
        }
    }
    double to_raw[LOGS];
    for (unsigned i = 0; i < LOGS; i++) {
        to_raw[i] = ratio(&series[i], &series[LOGS]);
    }
    print_row("fdatasync", batch, &series[LOGS], 1.0, 1.0 / batch);
    for (unsigned i = 0; i < LOGS; i++) {
        double commits = (double)rounds * batch;
        print_row(logs[i].name, batch, &series[i], to_raw[i], (double)logs[i].flushes / commits);
        logs[i].flushes = 0;
    }
    for (unsigned i = 0; i <= LOGS; i++) {
        free(series[i].us);
    }
}

/* Opening the own log again: what recovery reads. */
static void measure_recovery(struct log *log)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log_config config = {.io = log->io};
    struct wio_log_state state;
    for (unsigned i = 0; i < 960; i++) {
        commit_log(log, 64);
    }
    if (wio_log_flushed(log->log, &state, &err) != WIO_OK) {
        stop(log->name, &err);
    }
    wio_log_close(log->log);
    uint64_t begin = wio_clock_mono_ns();
    if (wio_log_open_own(&config, &log->log, &err) != WIO_OK) {
        stop(log->name, &err);
    }
    double seconds = (double)(wio_clock_mono_ns() - begin) / 1e9;
    printf("\nown log, %.0f MiB since the checkpoint: opened in %.3f s, %.3f s per 256 MiB\n",
           (double)state.used_bytes / 1048576.0, seconds,
           seconds * 268435456.0 / (double)state.used_bytes);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: store_log DIR [ROUNDS]\n");
        return 2;
    }
    char dir[4000];
    struct wio_error err = WIO_ERROR_INIT;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : ROUNDS;
    struct log logs[LOGS];
    snprintf(dir, sizeof(dir), "%s/store_log.%ld", argv[1], (long)getpid());
    if (rounds == 0 || wio_io_mkdirs(dir, &err) != WIO_OK) {
        stop(dir, &err);
    }
    memset(payload, 'p', sizeof(payload));
    struct raw raw = open_raw(dir);
    open_log(&logs[0], dir, "own");
    open_log(&logs[1], dir, "sqlite");
    printf("| log       | batch | us/commit | p99       | to fdatasync  | flushes per commit |\n");
    printf("|-----------|-------|-----------|-----------|---------------|--------------------|\n");
    measure(&raw, logs, 1, rounds);
    measure(&raw, logs, 64, rounds);
    measure_recovery(&logs[0]);
    for (unsigned i = 0; i < LOGS; i++) {
        wio_log_close(logs[i].log);
        store_io_close(logs[i].io);
    }
    (void)close(raw.fd);
    return wio_io_remove_tree(dir, &err) == WIO_OK ? 0 : 1;
}
