/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/sim/times.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "schedule/copy.h"

struct wio_predict_times {
    uint32_t count; /* streams */
    struct sim_time **streams;
    uint64_t *next; /* of each stream, while they are written */
};

enum wio_status wio_predict_times_take(struct sim *sim, struct wio_predict_times **times_out)
{
    struct wio_predict_times *times = calloc(1, sizeof(*times));
    *times_out = times;
    if (times == NULL) {
        return WIO_ERR_NOMEM;
    }
    times->streams = calloc((size_t)sim->thread_count + 1, sizeof(struct sim_time *));
    times->next = calloc((size_t)sim->thread_count + 1, sizeof(*times->next));
    if (times->streams == NULL || times->next == NULL) {
        return WIO_ERR_NOMEM;
    }
    times->count = sim->thread_count;
    for (uint32_t i = 0; i < times->count; i++) {
        times->streams[i] = sim->threads[i].events.times;
        sim->threads[i].events.times = NULL;
    }
    return WIO_OK;
}

void wio_predict_times_free(struct wio_predict_times *times)
{
    if (times == NULL) {
        return;
    }
    for (uint32_t i = 0; i < times->count; i++) {
        free(times->streams[i]);
    }
    free(times->streams);
    free(times->next);
    free(times);
}

static bool change(void *arg, struct wio_event *event)
{
    struct wio_predict_times *times = arg;
    const struct sim_time *time = &times->streams[event->stream][times->next[event->stream]++];
    event->t_ns = time->begin_ns;
    event->dur_ns = time->dur_ns;
    if (event->dur_cpu_ns > event->dur_ns) { /* a wait that was longer, and spun all the time */
        event->dur_cpu_ns = event->dur_ns;
    }
    return true;
}

enum wio_status wio_predict_write(const struct wio_trace *trace,
                                  const struct wio_predict_result *result, const char *path,
                                  struct wio_error *err)
{
    struct wio_predict_times *times = result->times;
    if (times == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "the prediction has not kept its events");
    }
    for (uint32_t i = 0; i < times->count; i++) {
        times->next[i] = 0;
    }
    return wio_trace_copy(trace, path, change, times, err);
}
