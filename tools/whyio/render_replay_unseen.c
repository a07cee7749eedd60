/* SPDX-License-Identifier: Apache-2.0 */
#include "render_replay.h"

uint32_t render_replay_unseen_kinds(const struct wio_trace *trace)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_process_info *process = wio_trace_process(trace, i);
        kinds = process->unseen_count > kinds ? process->unseen_count : kinds;
    }
    return kinds;
}

uint64_t render_replay_unseen(const struct wio_trace *trace, uint32_t kind)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_process_info *process = wio_trace_process(trace, i);
        count += kind < process->unseen_count ? process->unseen[kind] : 0;
    }
    return count;
}
