/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write models against measured writes, and how fast they are.
 *
 *     model_bench DIRECTORY [SCENARIO]   naive | cawl | kernel beside what was measured
 *     model_bench --speed                writes per second
 *
 * DIRECTORY holds res_<scenario>_<run>.csv: one line per write with a header naming the columns i,
 * mode (n: write, f: fwrite), file, offset, size, delay, t, cost and more. With a SCENARIO every
 * write is printed. Exit status 77: no such files.
 */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "model/model.h"

#define MIB 1048576.0
#define WRITES_MAX 4096
#define FILES_MAX 1000
#define NAME_SIZE 256

struct sample {
    struct wio_model_op op;
    double cost_s;
};

struct run {
    const char *name;
    struct sample samples[WRITES_MAX];
    size_t count;
};

struct errors {
    double relative; /* mean |m-a|/a */
    double weighted; /* sum |m-a| / sum a */
    double total;    /* of the sums */
    double worst;    /* largest error of the running sum, by the sum of all */
};

/* The machine of these measurements: a loop device limited to 100 MiB/s. */
static struct wio_model_params machine_of(const char *name)
{
    struct wio_model_params params = wio_model_params_default();
    bool is_cached = strstr(name, "A1k") != NULL || strstr(name, "A7") != NULL;
    params.bw_mem = 8e9;
    params.bw_ramdisk = 16 * MIB / (is_cached ? 2.4e-3 : 4.0e-3);
    params.bw_reduced = 16 * MIB / (is_cached ? 2.6e-3 : 4.6e-3);
    params.bw_dev = 102 * MIB;
    params.bw_rdev = 100 * MIB;
    params.sc_w = 2e-6;
    params.sc_sw = 1.6e-4;
    params.c_sk = 0;
    params.bs = 4096;
    params.bf = 4096;
    params.limit_bg = 128 * MIB;
    params.limit_hard = 512 * MIB;
    params.dirty_expire = 30;
    params.c_lib = 5e-8;
    params.dirty_ratelimit0 = 0.86 * params.bw_dev;
    params.write_bw0 = 0.95 * params.bw_dev;
    return params;
}

static int read_run(const char *directory, const char *name, struct run *run)
{
    char line[512];
    char path[4096];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path)) {
        return -1;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -1;
    }
    run->name = name;
    run->count = 0;
    while (fgets(line, sizeof(line), file) != NULL && run->count < WRITES_MAX) {
        struct sample *sample = &run->samples[run->count];
        char mode;
        unsigned long number;
        unsigned long long offset;
        unsigned long long size;
        double start_s;
        if (sscanf(line, "%*u,%c,%lu,%llu,%llu,%lf,%lf,%lf", &mode, &number, &offset, &size,
                   &sample->op.delay_s, &start_s, &sample->cost_s) != 7) {
            continue;
        }
        sample->op.file = number;
        sample->op.offset = offset;
        sample->op.size = size;
        sample->op.method = mode == 'f' ? WIO_MODEL_FWRITE : WIO_MODEL_WRITE;
        run->count++;
    }
    (void)fclose(file);
    return run->count > 0 ? 0 : -1;
}

static void fail(const struct wio_error *err)
{
    (void)fprintf(stderr, "model_bench: %s\n", err->message);
    exit(4);
}

static struct errors compare(enum wio_model_kind kind, const struct run *run, bool show)
{
    struct wio_model_params params = machine_of(run->name);
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    struct errors errors = {0};
    double sum = 0;
    double model_sum = 0;
    if (wio_model_create(kind, &params, &heap, &model, &err) != WIO_OK) {
        fail(&err);
    }
    for (size_t i = 0; i < run->count; i++) {
        const struct sample *sample = &run->samples[i];
        struct wio_model_result result;
        if (wio_model_step(model, &sample->op, &result, &err) != WIO_OK) {
            fail(&err);
        }
        double off = fabs(result.cost_s - sample->cost_s);
        sum += sample->cost_s;
        model_sum += result.cost_s;
        errors.relative += off / sample->cost_s / (double)run->count;
        errors.weighted += off;
        errors.worst = fmax(errors.worst, fabs(model_sum - sum));
        if (show) {
            printf("%4zu measured %8.3f ms, %s %8.3f ms, sums %8.3f %8.3f s, cached %4.0f MiB %s\n",
                   i, sample->cost_s * 1e3, wio_model_name(kind), result.cost_s * 1e3, sum,
                   model_sum, result.dirty_bytes / MIB, wio_model_state_name(result.state));
        }
    }
    wio_model_destroy(model);
    errors.weighted /= sum;
    errors.worst /= sum;
    errors.total = model_sum / sum - 1;
    return errors;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t list_runs(const char *directory, char names[][NAME_SIZE])
{
    size_t count = 0;
    DIR *dir = opendir(directory);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL && count < FILES_MAX) {
        if (strncmp(entry->d_name, "res_", 4) == 0) {
            (void)snprintf(names[count++], NAME_SIZE, "%s", entry->d_name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    qsort(names, count, sizeof(names[0]), by_name);
    return count;
}

static void print_errors(const struct errors *e)
{
    printf(" | %6.3f %6.3f %+7.1f%% %6.1f%%", e->relative, e->weighted, e->total * 100,
           e->worst * 100);
}

static int accuracy(const char *directory, const char *scenario)
{
    static char names[FILES_MAX][NAME_SIZE];
    static struct run run;
    double weighted[WIO_MODEL_KIND_COUNT] = {0};
    double total[WIO_MODEL_KIND_COUNT] = {0};
    size_t used = 0;
    size_t count = list_runs(directory, names);
    printf("%-32s", "");
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        printf(" | %-6s   WAPE    total  worst", wio_model_name((enum wio_model_kind)kind));
    }
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        if ((scenario != NULL && strstr(names[i], scenario) == NULL) ||
            read_run(directory, names[i], &run) < 0) {
            continue;
        }
        used++;
        printf("%-32.32s", names[i]);
        for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
            struct errors errors = compare((enum wio_model_kind)kind, &run, false);
            weighted[kind] += errors.weighted;
            total[kind] += fabs(errors.total);
            print_errors(&errors);
        }
        printf("\n");
        if (scenario != NULL) {
            (void)compare(WIO_MODEL_KERNEL, &run, true);
        }
    }
    if (used == 0) {
        (void)fprintf(stderr, "model_bench: no measurements in '%s'\n", directory);
        return 77;
    }
    printf("%-32s", "mean");
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        printf(" |        %6.3f %7.1f%%        ", weighted[kind] / (double)used,
               total[kind] / (double)used * 100);
    }
    printf("\n");
    return 0;
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Writes of 4 KiB: the next one behind the last, or anywhere among `blocks` places. */
static void speed(enum wio_model_kind kind, uint64_t blocks, bool is_random, uint64_t writes)
{
    struct wio_model_params params = machine_of("");
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    struct wio_model_result result = {0};
    uint64_t seed = 88172645463325252u;
    params.limit_bg = 1e15;
    params.limit_hard = 3e15;
    params.dirty_expire = 1e9;
    if (wio_model_create(kind, &params, &heap, &model, &err) != WIO_OK) {
        fail(&err);
    }
    double start = 0;
    for (uint64_t i = 0; i < blocks + writes; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        if (i == blocks) {
            start = now_s();
        }
        uint64_t place = i < blocks ? i * 2 : is_random ? seed % blocks * 2 : i * 2;
        struct wio_model_op op = {.offset = place * 4096, .size = 4096};
        if (wio_model_step(model, &op, &result, &err) != WIO_OK) {
            fail(&err);
        }
    }
    printf("%-7s %8llu cached blocks, %-10s %6.2f M writes/s (%.0f MiB cached)\n",
           wio_model_name(kind), (unsigned long long)blocks, is_random ? "random" : "sequential",
           (double)writes / (now_s() - start) / 1e6, result.dirty_bytes / MIB);
    wio_model_destroy(model);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--speed") == 0) {
        for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
            speed((enum wio_model_kind)kind, 1000, false, 1000000);
            speed((enum wio_model_kind)kind, 1000, true, 1000000);
            speed((enum wio_model_kind)kind, 1000000, true, 1000000);
        }
        return 0;
    }
    if (argc != 2 && argc != 3) {
        (void)fprintf(stderr, "usage: model_bench DIRECTORY [SCENARIO] | --speed\n");
        return 2;
    }
    return accuracy(argv[1], argc == 3 ? argv[2] : NULL);
}
