/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of mapped files the program has written (record --mmap-pages). The kernel notes them
 * where a range is write protected for userfaultfd in its asynchronous mode (Linux 6.7): no thread
 * is stopped or waits, no signal is sent; PAGEMAP_SCAN reads and clears the notes. Elsewhere, and
 * for what cannot be watched, WIO_UNSEEN_HIDDEN_STORES is counted.
 *
 * Everything here is signal safe and thread safe, and nothing where the option is off.
 */
#ifndef WIO_CAPTURE_MMAP_PAGES_H
#define WIO_CAPTURE_MMAP_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/capture.h"
#include "capture/mmap/mmap_table.h"

/* Once, while the process is configured. */
void cap_pages_configure(void) CAP_HIDDEN;
/* A shared map of a regular file was made: watch it, and note in `map` what a report needs. */
void cap_pages_watch(struct cap_map *map, int fd, int map_flags) CAP_HIDDEN;
/* Maps in this range have moved or grown: their watch begins anew. */
void cap_pages_watch_again(uintptr_t address, size_t size) CAP_HIDDEN;
/* An event for each contiguous range within these addresses that was written since the last
 * report. Call before what makes them durable or takes them away. */
void cap_pages_report(uintptr_t source, unsigned call, uintptr_t address, size_t size) CAP_HIDDEN;
/* All of them: the image ends. */
void cap_pages_report_all(uintptr_t source, unsigned call) CAP_HIDDEN;
/* The program registers this range with a userfaultfd of its own: it is not watched any more. */
void cap_pages_give_way(uintptr_t source, unsigned long request, const void *range) CAP_HIDDEN;
/* A fresh child: the kernel does not watch its memory, the descriptor is its parent's. */
void cap_pages_begin_image(void) CAP_HIDDEN;
/* Is anything watched? */
bool cap_pages_any(void) CAP_HIDDEN;

#endif
