/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one decision, one request through the queue and one refusal cost.
 *
 * usage: admit_micro                     nanoseconds, for all policies
 *        admit_micro POLICY WHAT QUEUED ROUNDS     one loop, for callgrind (admit_micro.py)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "admit/admit.h"
#include "admit/negotiate.h"
#include "admit/shard.h"

enum { CLIENTS = 64 };

struct rig {
    struct wio_admit_total *total;
    struct wio_admit *shard;
    uint32_t clients[CLIENTS];
    uint64_t now_ns;
    uint64_t sink;
};

static void must(enum wio_status status)
{
    if (status != WIO_OK) {
        fprintf(stderr, "admit_micro: %s\n", wio_status_text(status));
        exit(4);
    }
}

static struct wio_admit_request request(const struct rig *rig, uint32_t i)
{
    return (struct wio_admit_request){.cookie = i,
                                      .number = i,
                                      .client = rig->clients[i % CLIENTS],
                                      .job = i % CLIENTS % 16,
                                      .operation = 1,
                                      .flags = WIO_ADMIT_REJECT,
                                      .bytes = 4096,
                                      .remaining_ns = (uint64_t)1000000000000};
}

static void arrive(struct rig *rig, uint32_t i)
{
    struct wio_admit_request asked = request(rig, i);
    struct wio_admit_reply reply;
    rig->sink += wio_admit_arrive(rig->shard, &asked, rig->now_ns, &reply);
}

static void serve(struct rig *rig)
{
    struct wio_admit_work work;
    if (wio_admit_next(rig->shard, rig->now_ns, &work)) {
        struct wio_admit_served served = {.now_ns = rig->now_ns += 1000, .service_ns = 1000};
        struct wio_admit_reply reply;
        must(wio_admit_done(rig->shard, work.handle, &served, &reply));
        rig->sink += reply.window;
    }
}

/* `queued` requests wait; their cost is so small that the time of the queue is no reason. */
static void begin(struct rig *rig, enum wio_admit_kind kind, uint32_t queued, bool is_full)
{
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.kind = kind;
    settings.memory_bytes = (uint64_t)1 << 36;
    settings.queue_total = is_full ? queued : 2 * queued + 64;
    settings.in_flight_max = 64;
    settings.cost_first_ns = 1;
    settings.target_min_ns = settings.target_max_ns = (uint64_t)1000000000000;
    must(wio_admit_total_create(&settings, &WIO_ALLOC_HEAP, &rig->total, NULL));
    must(wio_admit_create(rig->total, &WIO_ALLOC_HEAP, &rig->shard, NULL));
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct wio_admit_identity identity = {.address = i, .features = WIO_ADMIT_FEATURES};
        must(wio_admit_join(rig->shard, &identity, 0, &rig->clients[i]));
    }
    for (uint32_t i = 0; i < queued; i++) {
        arrive(rig, i);
    }
}

static void end(struct rig *rig)
{
    wio_admit_destroy(rig->shard);
    wio_admit_total_destroy(rig->total);
}

enum what { NOTHING, DECIDE, QUEUE, THROUGH, REFUSE, WHAT_COUNT };
static const char *const names[WHAT_COUNT] = {"nothing", "decide", "queue", "through", "refuse"};

/* The queue alone: out of it and in again. */
static void requeue(struct rig *rig)
{
    const struct wio_admit_policy *policy = rig->shard->policy;
    uint32_t entry = policy->pop(rig->shard, rig->now_ns, true);
    must(policy->push(rig->shard, entry));
}

static void loop(struct rig *rig, enum what what, uint32_t rounds)
{
    struct wio_admit_request asked = request(rig, 7);
    for (uint32_t i = 0; i < rounds; i++) {
        switch (what) {
        case DECIDE:
            asked.client = rig->clients[i % CLIENTS];
            asked.job = i % CLIENTS % 16;
            rig->sink += wio_admit_judge(rig->shard, &asked, rig->now_ns);
            break;
        case QUEUE:
            requeue(rig);
            break;
        case THROUGH:
            arrive(rig, i);
            serve(rig);
            break;
        case REFUSE:
            arrive(rig, i);
            break;
        case NOTHING:
        case WHAT_COUNT:
            rig->sink += i;
            break;
        }
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* not what others do */
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The shortest of several loops: what others do on the machine only adds. */
static double measure(enum wio_admit_kind kind, enum what what, uint32_t queued)
{
    struct rig rig = {.now_ns = 1000000};
    uint32_t rounds = 200000;
    double best = 1e18;
    begin(&rig, kind, queued, what == REFUSE);
    loop(&rig, what, queued < rounds ? rounds : queued);
    for (unsigned i = 0; i < 9; i++) {
        double from = now();
        loop(&rig, what, rounds);
        double took = (now() - from) / rounds;
        best = took < best ? took : best;
    }
    end(&rig);
    return best;
}

static void show_all(void)
{
    printf(
        "| policy | decision | queue, 4 k | 1 M | ratio | arrive to done, 4 k | 1 M | refusal |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (unsigned i = 0; i < WIO_ADMIT_KIND_COUNT; i++) {
        enum wio_admit_kind kind = (enum wio_admit_kind)i;
        double few = measure(kind, QUEUE, 4096);
        double many = measure(kind, QUEUE, 1u << 20);
        printf("| %s | %.1f ns | %.1f ns | %.1f ns | %.2f | %.1f ns | %.1f ns | %.1f ns |\n",
               wio_admit_kind_name(kind), measure(kind, DECIDE, 4096), few, many, many / few,
               measure(kind, THROUGH, 4096), measure(kind, THROUGH, 1u << 20),
               measure(kind, REFUSE, 4096));
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        show_all();
        return 0;
    }
    unsigned what = 0;
    while (argc == 5 && what < WHAT_COUNT && strcmp(names[what], argv[2]) != 0) {
        what++;
    }
    if (argc != 5 || what == WHAT_COUNT || wio_admit_kind_find(argv[1]) == WIO_ADMIT_KIND_COUNT) {
        fprintf(stderr,
                "usage: admit_micro [POLICY nothing|decide|queue|through|refuse QUEUED ROUNDS]\n");
        return 2;
    }
    struct rig rig = {.now_ns = 1000000};
    begin(&rig, wio_admit_kind_find(argv[1]), (uint32_t)strtoul(argv[3], NULL, 10), what == REFUSE);
    loop(&rig, (enum what)what, (uint32_t)strtoul(argv[4], NULL, 10));
    end(&rig);
    return rig.sink == UINT64_MAX;
}
