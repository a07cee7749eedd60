/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/launcher/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "replay/launcher/send_queue.h"
#include "replay/wait/sync_table.h"

#define NAME_MAX_BYTES 64u

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Places in the memory; with NULL only their size. */
static size_t lay_out(struct rp_machine *machine, const struct rp_plan *plan, char *memory)
{
    size_t crowd = aligned(sizeof(*machine->crowd));
    size_t groups = aligned((size_t)plan->family.group_count * sizeof(*machine->groups));
    size_t progress = aligned((size_t)plan->family.stream_count * sizeof(*machine->progress));
    if (memory != NULL) {
        machine->crowd = (void *)memory;
        machine->groups = (void *)(memory + crowd);
        machine->progress = (void *)(memory + crowd + groups);
        machine->gate = memory + crowd + groups + progress;
    }
    return crowd + groups + progress + rp_gate_size(&plan->waits);
}

static uint32_t leader_of(const struct wio_replay_link *link, uint32_t machine)
{
    uint32_t rank = 0;
    while (rank + 1 < link->ranks && link->machine_of[rank] != machine) {
        rank++;
    }
    return rank;
}

/* The leader makes the memory under a name, which is gone as soon as all have it. */
static int make(const char *name, size_t bytes)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0) {
        int error = errno;
        (void)close(fd);
        (void)shm_unlink(name);
        errno = error;
        return -1;
    }
    return fd;
}

static enum wio_status map(struct rp_machine *machine, const struct rp_plan *plan, int fd,
                           struct wio_error *err)
{
    void *memory =
        fd < 0 ? MAP_FAILED : mmap(NULL, machine->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return wio_error_sys(err, "/dev/shm",
                             "cannot share %zu bytes of memory between the ranks of a machine",
                             machine->bytes);
    }
    machine->memory = memory;
    (void)lay_out(machine, plan, memory);
    return WIO_OK;
}

/* Every machine's leader tells its name to all, one after the other; gives that of ours. */
static enum wio_status share_names(const struct wio_replay_link *link, char *name,
                                   struct wio_error *err)
{
    for (uint32_t i = 0; i < link->machines; i++) {
        char other[NAME_MAX_BYTES];
        uint32_t leader = leader_of(link, i);
        memcpy(other, name, sizeof(other));
        WIO_TRY(link->share(link->self, leader, other, sizeof(other), err));
        if (link->machine_of[link->rank] == i) {
            memcpy(name, other, sizeof(other));
        }
    }
    return WIO_OK;
}

enum wio_status rp_machine_open(struct rp_machine *machine, const struct wio_replay_link *link,
                                const struct rp_plan *plan, struct wio_error *err)
{
    char name[NAME_MAX_BYTES] = "";
    int fd WIO_CLEANUP(wio_fd_cleanup) = -1;
    machine->bytes = lay_out(machine, plan, NULL);
    machine->leader = leader_of(link, link->machine_of[link->rank]);
    machine->is_leader = machine->leader == link->rank;
    if (machine->is_leader) {
        (void)snprintf(name, sizeof(name), "/whyio-replay-%ld-%llx", (long)getpid(),
                       (unsigned long long)wio_clock_mono_ns());
        fd = make(name, machine->bytes);
    }
    WIO_TRY(share_names(link, name, err));
    if (!machine->is_leader) {
        fd = shm_open(name, O_RDWR | O_CLOEXEC, 0600);
    }
    enum wio_status status = map(machine, plan, fd, err);
    enum wio_status met = link->barrier(link->self, status == WIO_OK ? err : NULL);
    if (machine->is_leader) {
        (void)shm_unlink(name);
    }
    return status == WIO_OK ? met : status;
}

void rp_machine_close(struct rp_machine *machine)
{
    if (machine->memory != NULL) {
        (void)munmap(machine->memory, machine->bytes);
    }
    *machine = (struct rp_machine){0};
}

void rp_machine_lend(const struct rp_machine *machine, struct rp_board *board)
{
    board->crowd = machine->crowd;
    board->groups = machine->groups;
    board->progress = machine->progress;
}

/* ---- clocks ---- */

#define ASKS 32u

struct clock_post {
    const struct wio_replay_link *link;
    struct wio_error *err;
    enum wio_status status;
    uint64_t answer;
    bool has_answer;
    uint32_t finished; /* rank 0: leaders that are through */
};

static void deliver(void *arg, const struct wio_replay_mail *mail)
{
    struct clock_post *post = arg;
    const struct wio_replay_link *link = post->link;
    if (mail->kind != RP_MAIL_CLOCK) {
        return;
    }
    if (link->rank != 0) {
        post->answer = mail->value;
        post->has_answer = true;
    } else if (mail->count == 2) {
        post->finished++;
    } else if (post->status == WIO_OK) {
        const struct wio_replay_mail reply = {
            .kind = RP_MAIL_CLOCK, .count = 1, .value = wio_clock_mono_ns()};
        post->status = link->send(link->self, mail->from, &reply, post->err);
    }
}

static enum wio_status receive(struct clock_post *post)
{
    bool is_any;
    const struct wio_replay_link *link = post->link;
    WIO_TRY(link->receive(link->self, deliver, post, &is_any, post->err));
    return post->status;
}

/* The answer with the shortest round trip gives the most exact time. */
static enum wio_status ask(struct clock_post *post, int64_t *ahead_out)
{
    uint64_t shortest = UINT64_MAX;
    const struct wio_replay_link *link = post->link;
    for (uint32_t i = 0; i < ASKS; i++) {
        const struct wio_replay_mail question = {.kind = RP_MAIL_CLOCK};
        uint64_t sent = wio_clock_mono_ns();
        post->has_answer = false;
        WIO_TRY(link->send(link->self, 0, &question, post->err));
        while (!post->has_answer) {
            WIO_TRY(receive(post));
        }
        uint64_t got = wio_clock_mono_ns();
        if (got - sent < shortest) {
            shortest = got - sent;
            *ahead_out = (int64_t)(sent + (got - sent) / 2) - (int64_t)post->answer;
        }
    }
    const struct wio_replay_mail end = {.kind = RP_MAIL_CLOCK, .count = 2};
    return link->send(link->self, 0, &end, post->err);
}

enum wio_status rp_machine_set_clock(struct rp_machine *machine, const struct wio_replay_link *link,
                                     struct wio_error *err)
{
    struct clock_post post = {.link = link, .err = err};
    bool is_far = link->machine_of[link->rank] != link->machine_of[0];
    if (link->machines < 2) {
        return WIO_OK;
    }
    if (is_far) { /* every rank for itself: it spares telling the others */
        WIO_TRY(ask(&post, &machine->clock_ahead_ns));
    }
    uint32_t far_ranks = 0;
    for (uint32_t i = 0; i < link->ranks; i++) {
        far_ranks += link->machine_of[i] != link->machine_of[0];
    }
    while (link->rank == 0 && post.finished < far_ranks) {
        WIO_TRY(receive(&post));
    }
    return link->barrier(link->self, err);
}
