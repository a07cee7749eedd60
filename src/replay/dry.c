/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/dry.h"

#include "base/cleanup.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"
#include "replay/run/event_reader.h"

static void count(const struct rp_plan *plan, const struct wio_event *event, struct rp_tally *tally)
{
    uint8_t kind;
    switch (rp_classify(&plan->observer, event, &kind)) {
    case RP_FATE_CONTROL:
        tally->control++;
        break;
    case RP_FATE_SKIP:
        tally->skipped[kind - RP_KIND_SKIP]++;
        break;
    case RP_FATE_PERFORM:
    case RP_FATE_MEMORY:
    case RP_FATE_REQUEST:
    default: {
        const struct rp_performed performed = {
            .event = event, .result = event->result, .half = rp_half_of(&plan->observer, event)};
        rp_tally_add(tally, 0, &performed);
        break;
    }
    }
}

static void feed_cleanup(struct rp_feed *feed)
{
    rp_feed_fini(feed);
}

static enum wio_status count_stream(const struct rp_plan *plan, uint32_t stream,
                                    struct rp_tally *tally, struct wio_error *err)
{
    struct rp_feed feed WIO_CLEANUP(feed_cleanup) = {0};
    const struct wio_event *event;
    enum wio_status status;
    uint32_t image = plan->family.streams[stream].image;
    uint8_t caused = image == RP_NONE ? 0 : plan->family.images[image].caused;
    WIO_TRY(rp_feed_init(&feed, plan->trace, stream, 0, err));
    while ((status = rp_feed_next(&feed, &event, err)) == WIO_OK) {
        if (rp_is_covered(event, caused)) {
            tally->covered++;
        } else {
            count(plan, event, tally);
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status rp_dry_count(const struct rp_plan *plan, struct rp_tally *tally_out,
                             struct wio_error *err)
{
    rp_tally_init(tally_out);
    for (uint32_t i = 0; i < wio_trace_stream_count(plan->trace); i++) {
        WIO_TRY(count_stream(plan, i, tally_out, err));
    }
    return WIO_OK;
}
