/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/spans.h"

#include <stdbool.h>

#include "base/pick.h"

uint64_t wio_spans_covered(const struct wio_spans *spans, uint64_t begin, uint64_t end)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < WIO_SPANS; i++) {
        uint64_t from = wio_larger(begin, spans->begin[i]);
        uint64_t to = wio_smaller(end, spans->end[i]);
        sum += to > from ? to - from : 0;
    }
    return sum;
}

static bool touches(const struct wio_spans *spans, unsigned i, uint64_t begin, uint64_t end)
{
    return spans->end[i] > spans->begin[i] && begin <= spans->end[i] && end >= spans->begin[i];
}

void wio_spans_remove(struct wio_spans *spans, uint64_t begin, uint64_t end)
{
    for (unsigned i = 0; i < WIO_SPANS; i++) {
        if (begin >= spans->end[i] || end <= spans->begin[i]) {
            continue;
        }
        uint64_t before = begin > spans->begin[i] ? begin - spans->begin[i] : 0;
        uint64_t behind = end < spans->end[i] ? spans->end[i] - end : 0;
        if (before >= behind) {
            spans->end[i] = spans->begin[i] + before;
        } else {
            spans->begin[i] = end;
        }
    }
}

void wio_spans_add(struct wio_spans *spans, uint64_t begin, uint64_t end)
{
    unsigned smallest = 0;

    for (unsigned i = 0; i < WIO_SPANS; i++) {
        if (touches(spans, i, begin, end)) {
            begin = wio_smaller(begin, spans->begin[i]);
            end = wio_larger(end, spans->end[i]);
            spans->begin[i] = spans->end[i] = 0;
        }
    }
    for (unsigned i = 1; i < WIO_SPANS; i++) {
        if (spans->end[i] - spans->begin[i] < spans->end[smallest] - spans->begin[smallest]) {
            smallest = i;
        }
    }
    if (end - begin > spans->end[smallest] - spans->begin[smallest]) {
        spans->begin[smallest] = begin;
        spans->end[smallest] = end;
    }
}
