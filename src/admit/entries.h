/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a shard, waiting and running, in one array that is allocated once: an entry is an
 * index, and lists go through the entries themselves.
 */
#ifndef WIO_ADMIT_ENTRIES_H
#define WIO_ADMIT_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/memory.h"

enum wio_entry_state { WIO_ENTRY_FREE, WIO_ENTRY_WAITING, WIO_ENTRY_RUNNING, WIO_ENTRY_EXPIRED };

struct wio_admit_entry {
    uint64_t cookie;
    uint64_t id; /* of its first arrival: smaller is older */
    uint64_t arrived_ns;
    uint64_t deadline_ns;
    uint64_t bytes;
    uint64_t held_bytes; /* of memory, what the settings count for each included */
    uint64_t started_ns;
    uint64_t pool[2];
    uint32_t cost_ns;      /* estimated */
    uint32_t predicted_us; /* wait that was predicted */
    uint32_t next;         /* in its list */
    uint32_t tenant;
    uint32_t client;
    uint32_t generation; /* grows with each use: stale handles are known by it */
    uint32_t rule_job;   /* tbf matches again when rules change */
    uint32_t rule_uid;
    uint16_t operation;
    uint16_t retries;
    uint8_t size_class;
    uint8_t space;
    uint8_t state; /* enum wio_entry_state */
    bool is_must;
};

struct wio_entries {
    struct wio_alloc alloc;
    struct wio_admit_entry *items;
    uint32_t room;
    uint32_t fresh; /* entries from here on were never used */
    uint32_t free;  /* list of those that were */
};

/* First come, first served. Zero is not empty: WIO_ENTRY_LIST. */
struct wio_entry_list {
    uint32_t head;
    uint32_t tail;
};
#define WIO_ENTRY_LIST ((struct wio_entry_list){WIO_NO_INDEX, WIO_NO_INDEX})

WIO_MUST_CHECK enum wio_status wio_entries_init(struct wio_entries *entries,
                                                const struct wio_alloc *alloc, uint32_t room);
void wio_entries_fini(struct wio_entries *entries);

/* WIO_NO_INDEX where all are in use. What is in the entry is old, but generation and state. */
uint32_t wio_entries_take(struct wio_entries *entries);
void wio_entries_give(struct wio_entries *entries, uint32_t entry);

static inline struct wio_admit_entry *wio_entries_at(const struct wio_entries *entries,
                                                     uint32_t entry)
{
    return &entries->items[entry];
}

uint64_t wio_entries_handle(const struct wio_entries *entries, uint32_t entry);
/* WIO_NO_INDEX where the handle is none of an entry in use. */
uint32_t wio_entries_find(const struct wio_entries *entries, uint64_t handle);

void wio_entry_append(struct wio_entries *entries, struct wio_entry_list *list, uint32_t entry);
/* The first; WIO_NO_INDEX where there is none. */
uint32_t wio_entry_shift(struct wio_entries *entries, struct wio_entry_list *list);

#endif
