/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/calls.h"

#include <stdlib.h>

#include "ops/calls.h"

/* So many events of a stream are told apart. */
#define SEQ_BITS 40

static uint64_t key_of(uint32_t stream, uint64_t seq)
{
    return (uint64_t)stream << SEQ_BITS | seq;
}

enum wio_status wio_calls_init(struct wio_calls *calls, uint32_t streams)
{
    calls->seqs = calloc((size_t)streams + 1, sizeof(*calls->seqs));
    return calls->seqs != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_calls_fini(struct wio_calls *calls)
{
    free(calls->seqs);
    wio_map_fini(&calls->last);
}

enum wio_status wio_calls_see(struct wio_calls *calls, const struct wio_event *event)
{
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        calls->seqs[event->stream] = event->seq;
        return WIO_OK;
    }
    if (event->op != WIO_OP_semop_post || event->seq >> SEQ_BITS != 0) {
        return WIO_OK;
    }
    return wio_map_put(&calls->last, key_of(event->stream, calls->seqs[event->stream]), event->seq);
}

uint64_t wio_calls_last(const struct wio_calls *calls, uint32_t stream, uint64_t seq)
{
    const uint64_t *last =
        calls->last.hash.count > 0 ? wio_map_get(&calls->last, key_of(stream, seq)) : NULL;
    return last != NULL ? *last : seq;
}
