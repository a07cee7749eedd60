/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare_polls.h"

#include <stdlib.h>

#include "ops/calls.h"

/* Of the time in loops so much is sleep: one part in .. */
#define SLEEP_PART 10u
/* Failed looks for each that finds the file, of a loop that does not sleep. */
#define LOOKS_EACH 2u

/* Of a thread, in its loops. */
struct looking {
    uint64_t ns;
    uint64_t slept_ns;
    uint64_t looks;
    uint64_t failed;
};

static bool is_look(unsigned cls)
{
    return cls == WIO_CLASS_STAT || cls == WIO_CLASS_ACCESS || cls == WIO_CLASS_OPEN ||
           cls == WIO_CLASS_READLINK;
}

static bool polls(const struct looking *looking)
{
    uint64_t found = looking->looks - looking->failed;

    return looking->slept_ns > looking->ns / SLEEP_PART || looking->failed >= LOOKS_EACH * found;
}

enum wio_status wio_prepare_polls(const struct wio_finding_input *input, uint8_t **polls_out)
{
    uint32_t streams = wio_trace_stream_count(input->trace);
    struct looking *rows = calloc((size_t)streams + 1, sizeof(*rows));

    *polls_out = calloc((size_t)streams + 1, 1);
    if (rows == NULL || *polls_out == NULL) {
        free(rows);
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        struct looking *row = &rows[step->stream];
        unsigned cls = wio_finding_class(input, step);
        row->ns += step->poll_ns;
        row->slept_ns += cls == WIO_CLASS_SLEEP ? step->poll_ns : 0;
        if (is_look(cls) && step->poll_ns > 0) {
            row->looks += step->count;
            row->failed += step->errors;
        }
    }
    for (uint32_t i = 0; i < streams; i++) {
        (*polls_out)[i] = polls(&rows[i]);
    }
    free(rows);
    return WIO_OK;
}
