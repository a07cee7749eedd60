/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/launcher/send_queue.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The coordinator checks for messages more seldom. */
#define FULL_NAP_NS UINT64_C(20000)

enum wio_status rp_outbox_create(struct rp_outbox **outbox_out, struct wio_error *err)
{
    void *memory = mmap(NULL, sizeof(struct rp_outbox), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return wio_error_sys(err, NULL, "cannot get %zu bytes of shared memory",
                             sizeof(struct rp_outbox));
    }
    struct rp_outbox *outbox = memory;
    for (uint64_t i = 0; i < RP_OUTBOX_ROOM; i++) {
        atomic_store_explicit(&outbox->slots[i].turn, i, memory_order_relaxed);
    }
    *outbox_out = outbox;
    return WIO_OK;
}

void rp_outbox_destroy(struct rp_outbox *outbox)
{
    if (outbox != NULL) {
        (void)munmap(outbox, sizeof(*outbox));
    }
}

bool rp_outbox_put(struct rp_outbox *outbox, const struct rp_board *board, uint32_t to,
                   const struct wio_replay_mail *mail)
{
    uint64_t place = atomic_fetch_add(&outbox->put, 1);
    struct rp_outbox_slot *slot = &outbox->slots[place % RP_OUTBOX_ROOM];
    while (atomic_load_explicit(&slot->turn, memory_order_acquire) != place) {
        if (rp_board_is_aborted(board)) {
            return false;
        }
        wio_clock_sleep_ns(FULL_NAP_NS);
    }
    slot->to = to;
    slot->mail = *mail;
    atomic_store_explicit(&slot->turn, place + 1, memory_order_release);
    atomic_fetch_add(&outbox->bell, 1);
    if (atomic_load(&outbox->is_asleep) != 0) {
        (void)syscall(SYS_futex, &outbox->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    return true;
}

bool rp_outbox_take(struct rp_outbox *outbox, uint32_t *to_out, struct wio_replay_mail *mail_out)
{
    uint64_t place = outbox->taken;
    struct rp_outbox_slot *slot = &outbox->slots[place % RP_OUTBOX_ROOM];
    if (atomic_load_explicit(&slot->turn, memory_order_acquire) != place + 1) {
        return false;
    }
    *to_out = slot->to;
    *mail_out = slot->mail;
    outbox->taken = place + 1;
    atomic_store_explicit(&slot->turn, place + RP_OUTBOX_ROOM, memory_order_release);
    return true;
}

void rp_outbox_nap(struct rp_outbox *outbox, uint64_t ns)
{
    const struct timespec moment = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    uint32_t seen = atomic_load(&outbox->bell);
    struct rp_outbox_slot *next = &outbox->slots[outbox->taken % RP_OUTBOX_ROOM];
    atomic_store(&outbox->is_asleep, 1);
    if (atomic_load(&next->turn) != outbox->taken + 1) {
        (void)syscall(SYS_futex, &outbox->bell, FUTEX_WAIT, seen, &moment, NULL, 0);
    }
    atomic_store(&outbox->is_asleep, 0);
}
