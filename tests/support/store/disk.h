/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk in memory below the store's seam (store/io.h), which writes down each write, flush and
 * change of a name. From any prefix of that history it makes disks as a crash there may leave
 * them: of what was not flushed any subset of sectors, each whole, old, cut within or garbage, and
 * any subset of names.
 *
 *     struct disk *disk = disk_create(7);
 *     ... the store runs on disk_io(disk); disk_turn(disk) delivers what the loop has to ...
 *     for (size_t at = 0; at <= disk_events(disk); at++) {
 *         struct disk *crashed = disk_crash(disk, at, seed, DISK_GARBAGE);
 *         ... recover on it ...
 *         disk_destroy(crashed);
 *     }
 *
 * Files, timers, clock and random bytes only; it has no connections.
 */
#ifndef WIO_TESTS_SUPPORT_STORE_DISK_H
#define WIO_TESTS_SUPPORT_STORE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/io.h"

enum { DISK_SECTOR = 512 };

struct disk;

/* What becomes of sectors that were not flushed. */
enum disk_tear {
    DISK_NONE_SURVIVE,
    DISK_ALL_SURVIVE,
    DISK_SECTORS, /* each of them or not */
    DISK_GARBAGE  /* .. cut within, or made anything */
};

/* Fails one call and, if `is_lasting`, all behind it. Zero: none. */
struct disk_fault {
    uint64_t at;         /* the n-th write, flush or allocation from now on, from 1 */
    int sys_errno;       /* EIO, ENOSPC .. */
    bool is_short_write; /* half of what a write has is written before it fails */
    bool is_lasting;
};

struct disk *disk_create(uint64_t seed);
void disk_destroy(struct disk *disk);
struct wio_io *disk_io(struct disk *disk);

/* Deliver callbacks until none is due; false: none was. */
bool disk_turn(struct disk *disk);
/* Flushes end only when disk_turn is called anyway; hold them even then, until set to false. */
void disk_hold_flushes(struct disk *disk, bool is_held);
/* So many bytes of blocks can be written. */
void disk_limit(struct disk *disk, uint64_t bytes);
/* Of the longest file; 0: none is told. */
void disk_limit_file(struct disk *disk, uint64_t bytes);
void disk_set_fault(struct disk *disk, struct disk_fault fault);
/* Writes, flushes and allocations until now. */
uint64_t disk_calls(const struct disk *disk);
uint64_t disk_flushes(const struct disk *disk);
/* Nothing that comes from now on is done or written down: for closing after a crash. */
void disk_stop(struct disk *disk);

/* Write into the history that something was acknowledged. */
void disk_note(struct disk *disk, uint64_t value);
size_t disk_events(const struct disk *disk);
/* The highest value that was noted before event `at`; 0: none. */
uint64_t disk_noted(const struct disk *disk, size_t at);
/* Event `at` is a write, a flush or a change of a name, not a note. */
bool disk_is_change(const struct disk *disk, size_t at);
struct disk *disk_crash(const struct disk *disk, size_t at, uint64_t seed, enum disk_tear tear);

/* The bytes of a file as they are, for tests that change some; NULL: there is none. */
uint8_t *disk_bytes(struct disk *disk, const char *name, size_t *size_out);

#endif
