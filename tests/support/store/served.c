/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/served.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/trace/tracer.h"

enum { PAUSE = 1, END = 2 };

#define TURN_NS UINT64_C(200000)

static const struct wio_link_key servers_key = {.bytes = {9, 8, 7}};

static void must(enum wio_status status, const struct wio_error *err)
{
    if (status != WIO_OK) {
        fprintf(stderr, "served: %s (%s)\n", err->message, err->file);
        abort();
    }
}

/* What was logged becomes durable after a while. */
static void flush(void *context)
{
    struct served *served = context;
    for (unsigned i = 0; i < served->targets; i++) {
        if (served->memory[i].wants_flush) {
            wio_target_durable(served->target[i], memory_backing_flush(&served->memory[i]), true);
        }
    }
    wio_net_io(served->net)->ops->timer_set(served->flush, TURN_NS);
}

static void woken(void *context)
{
    struct served *served = context;
    int wish = __atomic_exchange_n(&served->wish, 0, __ATOMIC_ACQ_REL);
    if (wish == PAUSE) {
        (void)sem_post(&served->paused);
        (void)sem_wait(&served->go_on);
    } else if (wish == END) {
        wio_net_stop(served->net);
    }
}

static void begin_admission(struct served *served)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.shards = served->targets;
    settings.kind = served->kind;
    settings.tenant_by = served->tenant_by;
    settings.key[0] = 1;
    settings.incarnation = 1;
    if (served->is_old) {
        return;
    }
    must(wio_admit_total_create(&settings, &heap, &served->admission, &err), &err);
    settings.shards = 1;
    must(wio_admit_total_create(&settings, &heap, &served->names_admission, &err), &err);
}

static void take_time(void *context)
{
    const struct served *served = context;
    (void)usleep(served->work_us);
}

static void begin_trace(struct served *served, uint16_t i)
{
    struct wio_error err = WIO_ERROR_INIT;
    char name[64];
    const struct wio_tracer_config config = {
        .dir = served->trace, .name = name, .address = served->target_addresses[i], .server = i};
    (void)snprintf(name, sizeof(name), "served.%d.t%u", (int)getpid(), i);
    if (served->trace != NULL) {
        must(wio_tracer_create(&config, &served->tracer[i], &err), &err);
    }
}

static void begin_target(struct served *served, uint16_t i, const char *const *addresses)
{
    struct wio_error err = WIO_ERROR_INIT;
    begin_trace(served, i);
    memory_backing_init(&served->memory[i]);
    served->memory[i].capacity = served->capacity;
    served->memory[i].work = served->work_us > 0 ? take_time : NULL;
    served->memory[i].work_context = served;
    const struct wio_target_config config = {
        .link = served->link,
        .addresses = addresses,
        .servers_key = &servers_key,
        .admission = served->admission,
        .tracer = served->tracer[i],
        .server = {.self = i,
                   .targets = (uint16_t)served->targets,
                   .policy = served->policy,
                   .lock_timeout_ns = served->lock_timeout_ns,
                   .clients_max = 128,
                   .txns_max = 4096,
                   .calls_max = 4096,
                   .locks_max = 65536,
                   .outcomes_max = 4096,
                   .txn_bytes_max = served->txn_bytes_max,
                   .update_bytes_max = 1u << 28,
                   .backing = &served->memory[i].base},
    };
    must(wio_target_create(wio_net_io(served->net), &config, &served->target[i], &err), &err);
    must(wio_target_listen(served->target[i], addresses[i], NULL, &err), &err);
}

/* The catalogue's server takes this clock for each request that it performs. */
static uint64_t slow_unix_ns(struct wio_io *io)
{
    const struct served *served =
        (const struct served *)(const void *)((const char *)io->ops - offsetof(struct served, ops));
    (void)usleep(served->names_work_us);
    return served->unix_ns(io);
}

static void slow_down(struct served *served)
{
    struct wio_io *io = wio_net_io(served->net);
    if (served->names_work_us > 0) {
        served->ops = *io->ops;
        served->unix_ns = served->ops.unix_ns;
        served->ops.unix_ns = slow_unix_ns;
        io->ops = &served->ops;
    }
}

static void begin_catalogue(struct served *served, const char *const *addresses)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_catalogue_config names = {.io = wio_net_io(served->net),
                                               .may_create = true,
                                               .is_volatile = true,
                                               .uid = (uint32_t)geteuid(),
                                               .gid = (uint32_t)getegid(),
                                               .mode = 0755};
    must(wio_catalogue_open(&names, &served->catalogue, &err), &err);
    const struct wio_catalogue_server_config config = {.link = served->link,
                                                       .catalogue = served->catalogue,
                                                       .servers_key = &servers_key,
                                                       .targets = addresses,
                                                       .target_count = (uint16_t)served->targets,
                                                       .admission = served->names_admission};
    must(wio_catalogue_server_create(wio_net_io(served->net), &config, &served->server, &err),
         &err);
    must(wio_catalogue_server_listen(served->server, served->address, NULL, &err), &err);
}

static void *run(void *context)
{
    struct served *served = context;
    struct wio_error err = WIO_ERROR_INIT;
    const char *addresses[SERVED_TARGETS];
    must(wio_net_create(served->dir, &served->net, &err), &err);
    begin_admission(served);
    slow_down(served);
    for (unsigned i = 0; i < served->targets; i++) {
        addresses[i] = served->target_addresses[i];
    }
    for (unsigned i = 0; i < served->targets; i++) {
        begin_target(served, (uint16_t)i, addresses);
    }
    begin_catalogue(served, addresses);
    struct wio_io *io = wio_net_io(served->net);
    served->flush = io->ops->timer_create(io, flush, served);
    io->ops->timer_set(served->flush, TURN_NS);
    wio_net_on_wake(served->net, woken, served);
    (void)sem_post(&served->ready);
    wio_net_run(served->net);
    io->ops->timer_destroy(served->flush);
    wio_catalogue_server_destroy(served->server);
    wio_catalogue_close(served->catalogue);
    for (unsigned i = 0; i < served->targets; i++) {
        wio_target_destroy(served->target[i]);
        must(wio_tracer_close(served->tracer[i], NULL, &err), &err);
        served->tracer[i] = NULL;
        memory_backing_fini(&served->memory[i]);
    }
    wio_admit_total_destroy(served->admission);
    wio_admit_total_destroy(served->names_admission);
    served->admission = NULL;
    served->names_admission = NULL;
    wio_net_destroy(served->net);
    return NULL;
}

void served_begin_as(struct served *served, unsigned targets)
{
    served->targets = targets;
    served->txn_bytes_max = served->txn_bytes_max > 0 ? served->txn_bytes_max : 1u << 26;
    served->link.limits = wio_link_limits_default;
    (void)snprintf(served->dir, sizeof(served->dir), "/tmp/whyio-served-XXXXXX");
    if (mkdtemp(served->dir) == NULL) {
        abort();
    }
    (void)snprintf(served->address, sizeof(served->address), "unix:%s/names", served->dir);
    for (unsigned i = 0; i < targets; i++) {
        (void)snprintf(served->target_addresses[i], sizeof(served->target_addresses[i]),
                       "unix:%s/t%u", served->dir, i);
    }
    (void)sem_init(&served->ready, 0, 0);
    (void)sem_init(&served->paused, 0, 0);
    (void)sem_init(&served->go_on, 0, 0);
    if (pthread_create(&served->thread, NULL, run, served) != 0) {
        abort();
    }
    (void)sem_wait(&served->ready);
}

void served_begin(struct served *served, unsigned targets)
{
    memset(served, 0, sizeof(*served));
    served->kind = WIO_ADMIT_CREDIT;
    served_begin_as(served, targets);
}

static void wish(struct served *served, int what)
{
    __atomic_store_n(&served->wish, what, __ATOMIC_RELEASE);
    wio_net_wake(served->net);
}

void served_pause(struct served *served)
{
    wish(served, PAUSE);
    (void)sem_wait(&served->paused);
}

void served_go_on(struct served *served)
{
    (void)sem_post(&served->go_on);
}

struct wio_server_stat served_stat(struct served *served)
{
    struct wio_server_stat sum = {0};
    for (unsigned i = 0; i < served->targets; i++) {
        struct wio_server_stat one = wio_server_stat(wio_target_server(served->target[i]));
        sum.requests += one.requests;
        sum.commits += one.commits;
        sum.aborts += one.aborts;
        sum.wounds += one.wounds;
        sum.refusals += one.refusals;
        sum.txns += one.txns;
        sum.clients += one.clients;
        sum.update_bytes += one.update_bytes;
    }
    return sum;
}

void served_end(struct served *served)
{
    wish(served, END);
    (void)pthread_join(served->thread, NULL);
    (void)!wio_io_remove_tree(served->dir, NULL);
    (void)sem_destroy(&served->ready);
    (void)sem_destroy(&served->paused);
    (void)sem_destroy(&served->go_on);
}
