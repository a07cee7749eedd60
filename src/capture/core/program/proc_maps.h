/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc/self/maps, without memory of libc. */
#ifndef WIO_CAPTURE_CORE_PROC_MAPS_H
#define WIO_CAPTURE_CORE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/capture.h"

#define CAP_PROC_MAPS_BUFFER 65536u

/* One line. */
struct cap_proc_map {
    uintptr_t lo;
    uintptr_t hi;
    uint64_t offset;
    uint64_t device; /* major in the high half */
    uint64_t inode;
    bool is_code;
    bool is_writable;
    bool is_shared;
    const char *path; /* "" for anonymous memory; only during the call */
};

typedef void cap_proc_map_fn(void *arg, const struct cap_proc_map *map);

/* Calls `use` with each line. `text` has room for CAP_PROC_MAPS_BUFFER bytes. Returns the bytes in
 * it where it held everything (cap_proc_maps_again can use them), else 0. */
size_t cap_proc_maps_read(char *text, cap_proc_map_fn *use, void *arg) CAP_HIDDEN;
/*
 * The maps that hold code, which the kernel finds without writing out the others (PROCMAP_QUERY,
 * since Linux 6.11). Fills `buffer`, which is aligned for struct cap_proc_map and has room for
 * CAP_PROC_MAPS_BUFFER bytes: *count_out maps from its begin on, and behind them their paths, which
 * stay as long. False where the kernel cannot, or not all have room.
 */
bool cap_proc_maps_code(char *buffer, uint32_t *count_out) CAP_HIDDEN;
/* Once more the lines that are in `text`. */
void cap_proc_maps_again(char *text, size_t used, cap_proc_map_fn *use, void *arg) CAP_HIDDEN;

#endif
