/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of each rank, one line a step, flushed to the device so that nothing is lost if the machine
 * stops. At the end each rank writes its result.
 *
 *     compute, line, fsync, compute, line, fsync, ..., result, fsync
 *
 * Most of the run is waiting for the device, on any storage. The same program under the name
 * steplog-batched collects the lines of 16 steps and flushes these together: at most 16 lines are
 * lost.
 *
 *     mpirun -n 4 ./steplog -d /scratch -n 200 -c 1
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

/* The build gives steplog-batched other values. */
#ifndef NAME
#define NAME "steplog"
#define LINES 1
#endif

#define LINE 128

struct log {
    int fd;
    int lines; /* collected, and not written yet */
    char text[LINES * LINE];
};

static void flush_log(const struct example *ex, struct log *log)
{
    size_t bytes = (size_t)log->lines * LINE;
    log->lines = 0;
    if (write(log->fd, log->text, bytes) != (ssize_t)bytes) {
        example_fail(ex, "write", ex->name);
    }
    if (fsync(log->fd) != 0) {
        example_fail(ex, "sync", ex->name);
    }
}

static void log_step(const struct example *ex, struct log *log, int step)
{
    char *line = log->text + (size_t)log->lines++ * LINE;
    memset(line, ' ', LINE);
    line[snprintf(line, LINE, "step %d of rank %d is done", step, ex->rank)] = ' ';
    line[LINE - 1] = '\n';
    if (log->lines == LINES) {
        flush_log(ex, log);
    }
}

static void write_result(const struct example *ex, void *block)
{
    int fd = example_open_together(ex, "result");
    example_fill(block, ex->block, (uint64_t)ex->rank);
    example_pwrite(ex, fd, block, ex->block, (off_t)ex->rank * (off_t)ex->block);
    if (fsync(fd) != 0) {
        example_fail(ex, "sync", ex->name);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    struct example ex = {.name = NAME, .block = 256 << 10, .rounds = 200, .compute_ms = 1};
    example_init(&ex, &argc, &argv);
    char suffix[32];
    snprintf(suffix, sizeof(suffix), "%d.log", ex.rank);
    struct log log = {.fd = example_open(&ex, suffix, O_WRONLY | O_CREAT | O_TRUNC)};
    for (int step = 0; step < ex.rounds; step++) {
        example_compute(ex.compute_ms);
        log_step(&ex, &log, step);
    }
    if (log.lines > 0) {
        flush_log(&ex, &log);
    }
    close(log.fd);
    void *block = example_alloc(&ex, ex.block);
    write_result(&ex, block);
    free(block);
    return example_finish(&ex, "%d steps, a line each, results of %zu bytes", ex.rounds, ex.block);
}
