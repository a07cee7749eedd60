/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to know the job of a request, and to count it.
 *
 *     job [ROUNDS]      prints lines of: what, value, unit, target
 *
 * The table is measured beside the structure of Lustre's cache in the same run: a hash whose
 * buckets have a lock, entries with their id as 32 bytes of text, a lock and a reference count
 * each, and a clock that is compared at each look (lustre/obdclass/jobid.c does it so; this is no
 * copy of it). Rounds take turns; the figure is the median.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job/names.h"
#include "job/stats.h"
#include "job/stats_text.h"
#include "job/table.h"
#include "probe/probe.h"

#define PROCESSES 30000u
#define LOOKS 1000000u
#define ADDS 1000000u
#define JOBS 500000u
#define ROUNDS_DEFAULT 21u
#define ROUNDS_MOST 101u
#define MISSES 2000u

/* Processor time of the program: other programs are not measured. */
static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(enum wio_status status, const char *what)
{
    if (status != WIO_OK) {
        (void)fprintf(stderr, "job: %s: %s\n", what, wio_status_text(status));
        exit(4);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is measured again and again: the median, and the least, which is of the time when no other
 * program had the other half of the core. */
static const char *median(double *values, unsigned count, int digits)
{
    static char texts[4][64];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    qsort(values, count, sizeof(*values), compare_doubles);
    (void)snprintf(text, sizeof(texts[0]), "%.*f (least %.*f)", digits, values[count / 2], digits,
                   values[0]);
    return text;
}

static uint32_t pid_of(uint32_t i)
{
    return 1000 + i * 7;
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* ---- Lustre's structure ---- */

#define BUCKETS 256u /* hash bits between 8 and 16; it grows with what is in it */
#define ID_BYTES 32u

struct entry {
    struct entry *next;
    uint64_t pid;
    char id[ID_BYTES];
    pthread_spinlock_t lock;
    time_t time;
    atomic_int references;
};

struct hash {
    pthread_rwlock_t whole; /* against growing */
    uint32_t mask;
    struct bucket {
        pthread_spinlock_t lock;
        struct entry *first;
    } * buckets;
    pthread_spinlock_t clock_lock;
    time_t last_delete;
};

static struct hash lustre;
static struct entry *entries;

static void fill_lustre(void)
{
    uint32_t buckets = BUCKETS;
    while (buckets < PROCESSES / 2 && buckets < (1u << 16)) {
        buckets *= 2;
    }
    lustre.mask = buckets - 1;
    lustre.buckets = calloc(buckets, sizeof(*lustre.buckets));
    entries = calloc(PROCESSES, sizeof(*entries));
    if (lustre.buckets == NULL || entries == NULL) {
        must(WIO_ERR_NOMEM, "hash");
        return;
    }
    (void)pthread_rwlock_init(&lustre.whole, NULL);
    (void)pthread_spin_init(&lustre.clock_lock, PTHREAD_PROCESS_PRIVATE);
    for (uint32_t i = 0; i < buckets; i++) {
        (void)pthread_spin_init(&lustre.buckets[i].lock, PTHREAD_PROCESS_PRIVATE);
    }
    lustre.last_delete = time(NULL);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct entry *entry = &entries[(i * 7919u) % PROCESSES]; /* memory of a kernel in use */
        struct bucket *bucket = &lustre.buckets[(pid_of(i) * 0x9e370001u >> 8) & lustre.mask];
        entry->pid = pid_of(i);
        entry->time = lustre.last_delete;
        (void)snprintf(entry->id, sizeof(entry->id), "job.%u", i % 100);
        (void)pthread_spin_init(&entry->lock, PTHREAD_PROCESS_PRIVATE);
        entry->next = bucket->first;
        bucket->first = entry;
    }
}

static struct entry *find_entry(uint32_t pid)
{
    struct bucket *bucket = &lustre.buckets[(pid * 0x9e370001u >> 8) & lustre.mask];
    (void)pthread_rwlock_rdlock(&lustre.whole);
    (void)pthread_spin_lock(&bucket->lock);
    struct entry *entry = bucket->first;
    while (entry != NULL && entry->pid != pid) {
        entry = entry->next;
    }
    if (entry != NULL) {
        atomic_fetch_add(&entry->references, 1);
    }
    (void)pthread_spin_unlock(&bucket->lock);
    (void)pthread_rwlock_unlock(&lustre.whole);
    return entry;
}

static uint32_t look_lustre(uint32_t pid)
{
    struct timespec now;
    char id[ID_BYTES] = "";
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    (void)pthread_spin_lock(&lustre.clock_lock); /* is the purge of 300 s due? */
    const bool is_due = lustre.last_delete + 300 <= time(NULL);
    (void)pthread_spin_unlock(&lustre.clock_lock);
    struct entry *entry = find_entry(pid);
    if (entry != NULL) {
        (void)pthread_spin_lock(&entry->lock);
        if (!is_due && entry->time + 3000 > time(NULL)) {
            memcpy(id, entry->id, sizeof(id));
        }
        (void)pthread_spin_unlock(&entry->lock);
        atomic_fetch_sub(&entry->references, 1);
    }
    return (uint32_t)id[4];
}

/* ---- the table ---- */

static struct wio_job_table *table;

static void fill_table(void)
{
    const struct wio_job_table_params params = {.alloc = WIO_ALLOC_HEAP,
                                                .policy = wio_job_policy_exit()};
    must(wio_job_table_create(&params, &table), "table");
    for (uint32_t i = 0; i < PROCESSES; i++) {
        const struct wio_job_found found = {1 + i % 100, false};
        must(wio_job_table_process(table, pid_of(i), i, found, WIO_JOB_NO_WATCH, 0), "process");
    }
}

static uint32_t look_table(uint32_t pid)
{
    return wio_job_table_look(table, pid, 1).job;
}

/* ---- looks of several threads, at random processes ---- */

struct worker {
    pthread_t thread;
    uint32_t (*look)(uint32_t pid);
    double ns;
    uint32_t seed;
    uint32_t processes;
    uint32_t sum;
};

/* The loop itself (numbers that are drawn) is measured, too, and taken off. */
static uint32_t look_nothing(uint32_t pid)
{
    __asm__ volatile("" : "+r"(pid));
    return pid;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint32_t seed = worker->seed;
    uint32_t sum = 0;
    struct timespec begin;
    struct timespec end;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint32_t i = 0; i < LOOKS; i++) {
        sum += worker->look(pid_of(next(&seed) % worker->processes));
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    worker->sum = sum;
    worker->ns =
        ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / LOOKS;
    return NULL;
}

#define THREADS_MOST 64u

/* Nanoseconds of processor time a look, mean of the threads. */
static double measure(uint32_t (*look)(uint32_t), unsigned threads, uint32_t processes)
{
    struct worker workers[THREADS_MOST];
    double ns = 0;
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.look = look, .seed = i + 1, .processes = processes};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            must(WIO_ERR_NOMEM, "thread");
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        ns += workers[i].ns / threads;
    }
    return ns;
}

static void bench_looks(unsigned rounds, unsigned threads, uint32_t processes)
{
    double ours[ROUNDS_MOST];
    double theirs[ROUNDS_MOST];
    for (unsigned i = 0; i < rounds; i++) {
        const double loop = measure(look_nothing, threads, processes);
        ours[i] = measure(look_table, threads, processes) - loop;
        theirs[i] = measure(look_lustre, threads, processes) - loop;
    }
    printf("hit, %u of %u processes, %u threads: table %s ns (target <= 15), Lustre's structure %s "
           "ns\n",
           processes, PROCESSES, threads, median(ours, rounds, 1), median(theirs, rounds, 1));
}

/* ---- own job, misses ---- */

static void bench_own(struct wio_probe *probe, unsigned rounds)
{
    double ns[ROUNDS_MOST];
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t sum = 0;
        const double begin = now_s();
        for (uint32_t i = 0; i < LOOKS; i++) {
            sum += wio_probe_own(probe);
            __asm__ volatile("" : "+r"(sum));
        }
        ns[round] = (now_s() - begin) * 1e9 / LOOKS;
    }
    printf("own job, with its loop: %s ns (target <= 3)\n", median(ns, rounds, 2));
}

/* From a request to the answer, of the resolver's processor time. */
static void bench_misses(unsigned rounds)
{
    struct wio_probe_params params = {.policy = wio_job_policy_exit()};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_probe *probe;
    static pid_t pids[MISSES];
    double us[ROUNDS_MOST];
    double ask_ns[ROUNDS_MOST];
    must(wio_probe_create(&params, &probe, &err), err.message);
    for (uint32_t i = 0; i < MISSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            (void)pause();
            _exit(0);
        }
    }
    for (unsigned round = 0; round < rounds; round++) {
        const double begin = now_s();
        for (uint32_t i = 0; i < MISSES; i++) {
            /* older than 30 s in all rounds but the first */
            (void)wio_probe_job(probe, (uint32_t)pids[i], wio_probe_now_ms() + 40000 * round);
        }
        ask_ns[round] = (now_s() - begin) * 1e9 / MISSES;
        wio_probe_settle(probe);
        us[round] = (now_s() - begin) * 1e6 / MISSES;
    }
    bench_own(probe, rounds);
    printf("miss, the asking thread: %.0f ns; resolved beside: first %.2f us, again %s us (target "
           "<= 6)\n",
           ask_ns[0], us[0], median(us + 1, rounds - 1, 2));
    for (uint32_t i = 0; i < MISSES; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    const double begin = now_s();
    wio_probe_drain(probe);
    printf("end of a process, taken and dropped: %.2f us\n", (now_s() - begin) * 1e6 / MISSES);
    const double drains = now_s();
    for (uint32_t i = 0; i < MISSES * 100; i++) {
        wio_probe_drain(probe);
    }
    printf("drain without an end, once a batch: %.0f ns\n",
           (now_s() - drains) * 1e9 / (MISSES * 100));
    wio_probe_destroy(probe);
}

/* ---- statistics ---- */

static void bench_adds(unsigned rounds, uint32_t jobs)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    double ns[ROUNDS_MOST];
    for (unsigned round = 0; round < rounds; round++) {
        struct wio_job_stats *stats;
        uint32_t seed = 1;
        must(wio_job_stats_create(&heap, &stats), "statistics");
        for (uint32_t i = 0; i < jobs * 2; i++) {
            must(wio_job_stats_add(stats, 1 + i % jobs, WIO_JOB_OP_WRITE_BYTES, 1u << (i % 24), i),
                 "add");
        }
        const double begin = now_s();
        for (uint32_t i = 0; i < ADDS; i++) {
            const uint32_t drawn = next(&seed);
            must(wio_job_stats_add(stats, 1 + drawn % jobs, WIO_JOB_OP_WRITE_BYTES, drawn, i),
                 "add");
        }
        ns[round] = (now_s() - begin) * 1e9 / ADDS;
        wio_job_stats_destroy(stats);
    }
    printf("statistics update, %u jobs: %s ns (target <= 15)\n", jobs, median(ns, rounds, 1));
}

static void count_bytes(void *context, const char *text, size_t bytes)
{
    (void)!fwrite(text, 1, bytes, stderr);
    *(uint64_t *)context += bytes;
}

static void bench_output(unsigned rounds)
{
    static const enum wio_job_op ops[] = {WIO_JOB_OP_READ_BYTES, WIO_JOB_OP_WRITE_BYTES};
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_stats *stats;
    struct wio_job_names *names;
    double seconds[ROUNDS_MOST];
    uint64_t bytes = 0;
    const struct wio_job_sink sink = {count_bytes, &bytes};
    must(wio_job_stats_create(&heap, &stats), "statistics");
    must(wio_job_names_create(&heap, 0, &names), "names");
    for (uint32_t i = 0; i < JOBS; i++) {
        char name[32];
        uint32_t job;
        const int length = snprintf(name, sizeof(name), "dd.%u", i);
        must(wio_job_names_add(names, name, (size_t)length, &job), "name");
        for (size_t op = 0; op < sizeof(ops) / sizeof(ops[0]); op++) {
            must(wio_job_stats_add(stats, job, ops[op], 4096u + i,
                                   UINT64_C(1700000000000000000) + i),
                 "add");
        }
    }
    const struct wio_job_output output = {.stats = stats, .names = names};
    if (freopen("/dev/null", "w", stderr) == NULL) {
        must(WIO_ERR_IO, "/dev/null");
    }
    for (unsigned round = 0; round < rounds; round++) {
        bytes = 0;
        const double begin = now_s();
        wio_job_stats_yaml(&output, &sink);
        seconds[round] = now_s() - begin;
    }
    printf("YAML of %u jobs with 2 operations each, %" PRIu64 " MB to /dev/null: %s s (target <= "
           "0.5)\n",
           JOBS, bytes / 1000000, median(seconds, rounds, 2));
    wio_job_stats_destroy(stats);
    wio_job_names_destroy(names);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : ROUNDS_DEFAULT;
    rounds = rounds < 2 ? 2 : rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds;
    setvbuf(stdout, NULL, _IOLBF, 0);
    bench_misses(rounds);
    fill_table();
    fill_lustre();
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
        bench_looks(rounds, threads, PROCESSES);
    }
    bench_looks(rounds, 2, 16);
    bench_adds(rounds, 100);
    bench_adds(rounds, 10000);
    bench_output(rounds);
    wio_job_table_destroy(table);
    return 0;
}
