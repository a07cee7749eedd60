/* SPDX-License-Identifier: Apache-2.0 */
/* Process images that are in two segments: rings that were sealed twice, all events of which count
 * twice. The host, pid and begin of an image say which one it is. */
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "trace/check/check_twice.h"

/* Begins are by the monotonic clock where the boot is known: a wall clock may have been stepped
 * between two sealings. */
static uint64_t key_of(const struct wio_reader_segment *segment,
                       const struct wio_process_info *process)
{
    char text[512];
    bool is_mono = segment->boot_id[0] != '\0' && segment->base_mono_ns != 0;
    uint64_t base_ns = is_mono ? segment->base_mono_ns : segment->base_unix_ns;
    int length =
        snprintf(text, sizeof(text), "%s %.200s %d %llu", is_mono ? segment->boot_id : "",
                 process->host, process->pid, (unsigned long long)base_ns + process->start_ns);
    return XXH3_64bits(text, (size_t)length);
}

enum wio_status wio_check_twice(const struct wio_trace *trace, uint32_t number,
                                struct wio_map *images, struct wio_check_twice *found_out)
{
    *found_out = (struct wio_check_twice){0};
    for (uint32_t i = 0; i < trace->process_count; i++) {
        const struct wio_process_info *process = &trace->processes[i];
        uint64_t key = key_of(&trace->segments[0], process);
        const uint64_t *known = wio_map_get(images, key);
        if (known == NULL) {
            WIO_TRY(wio_map_put(images, key, number));
        } else if (*known != number) {
            bool is_first = found_out->count++ == 0;
            found_out->first = is_first ? process : found_out->first;
            found_out->segment = is_first ? (uint32_t)*known : found_out->segment;
        }
    }
    return WIO_OK;
}
