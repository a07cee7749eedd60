/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/descriptors.h"

#include <stdlib.h>

#include "predict/trace_state.h"

struct wio_descriptors {
    struct wio_trace_state of;
};

enum wio_status wio_descriptors_create(const struct wio_trace *trace,
                                       struct wio_descriptors **descriptors_out)
{
    struct wio_descriptors *descriptors = calloc(1, sizeof(*descriptors));
    *descriptors_out = NULL;
    if (descriptors == NULL || wio_trace_state_init(&descriptors->of, trace) != WIO_OK) {
        wio_descriptors_destroy(descriptors);
        return WIO_ERR_NOMEM;
    }
    *descriptors_out = descriptors;
    return WIO_OK;
}

void wio_descriptors_destroy(struct wio_descriptors *descriptors)
{
    if (descriptors != NULL) {
        wio_trace_state_fini(&descriptors->of);
        free(descriptors);
    }
}

enum wio_status wio_descriptors_event(struct wio_descriptors *descriptors,
                                      const struct wio_event *event)
{
    return wio_state_event(descriptors->of.state, event);
}

int wio_descriptors_flags(const struct wio_descriptors *descriptors, const struct wio_event *event)
{
    struct wio_state_file file;
    wio_state_fd(descriptors->of.state, descriptors->of.streams[event->stream].process, event->fd,
                 &file);
    return file.file != WIO_NO_INDEX ? file.flags : 0;
}
