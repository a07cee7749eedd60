/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/launcher/remote.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define MACHINE_BIT(machine) (UINT64_C(1) << ((machine) % 64))

static void see_acts(struct rp_far *far, const struct wio_waits *waits, uint32_t stream)
{
    uint32_t machine = far->link->machine_of[far->rank_of_stream[stream]];
    for (size_t i = waits->first[stream]; i < waits->first[stream + 1]; i++) {
        const struct wio_act *act = &waits->acts[i];
        if (act->kind == WIO_ACT_LEAVE) {
            far->meetings[act->index].machines |= MACHINE_BIT(machine);
        } else if (act->kind == WIO_ACT_ENTER) {
            bool is_here = machine == far->link->machine_of[far->link->rank];
            far->meetings[act->index].here += is_here;
        }
    }
}

static void find_leaders(struct rp_far *far)
{
    for (uint32_t rank = far->link->ranks; rank-- > 0;) {
        far->leaders[far->link->machine_of[rank]] = rank;
    }
}

enum wio_status rp_far_init(struct rp_far *far, const struct rp_plan *plan,
                            const struct wio_replay_link *link, const uint32_t *homes,
                            struct wio_error *err)
{
    const struct rp_family *family = &plan->family;
    far->link = link;
    far->rank_of_stream = calloc((size_t)family->stream_count + 1, sizeof(uint32_t));
    far->leaders = calloc((size_t)link->machines + 1, sizeof(uint32_t));
    far->meetings = calloc((size_t)plan->waits.meeting_count + 1, sizeof(*far->meetings));
    if (far->rank_of_stream == NULL || far->leaders == NULL || far->meetings == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the replay");
    }
    WIO_TRY(rp_outbox_create(&far->outbox, err));
    find_leaders(far);
    for (uint32_t i = 0; i < family->stream_count; i++) {
        uint32_t image = family->streams[i].image;
        far->rank_of_stream[i] = image == RP_NONE ? 0 : homes[family->images[image].group];
    }
    for (uint32_t i = 0; i < plan->waits.stream_count && plan->waits.is_there; i++) {
        see_acts(far, &plan->waits, i);
    }
    return WIO_OK;
}

void rp_far_fini(struct rp_far *far)
{
    rp_outbox_destroy(far->outbox);
    free(far->rank_of_stream);
    free(far->leaders);
    free(far->meetings);
    *far = (struct rp_far){0};
}

static void put(const struct rp_gate *gate, uint32_t rank, const struct wio_replay_mail *mail,
                uint64_t v_ns)
{
    struct wio_replay_mail copy = *mail;
    copy.value = v_ns - (uint64_t)gate->far->clock_ahead_ns;
    (void)rp_outbox_put(gate->far->outbox, gate->board, rank, &copy);
}

bool rp_far_mail(const struct rp_gate *gate, uint32_t stream, const struct wio_replay_mail *mail,
                 uint64_t v_ns)
{
    const struct rp_far *far = gate->far;
    if (far == NULL) {
        return false;
    }
    uint32_t rank = far->rank_of_stream[stream];
    if (far->link->machine_of[rank] == far->link->machine_of[far->link->rank]) {
        return false;
    }
    put(gate, rank, mail, v_ns);
    return true;
}

void rp_far_announce(const struct rp_gate *gate, uint32_t meeting, uint32_t count, uint64_t v_ns)
{
    const struct rp_far *far = gate->far;
    const struct wio_replay_mail mail = {.kind = RP_MAIL_MEETING, .index = meeting, .count = count};
    for (uint32_t machine = 0; machine < far->link->machines; machine++) {
        if (machine != far->link->machine_of[far->link->rank] &&
            (far->meetings[meeting].machines & MACHINE_BIT(machine)) != 0) {
            put(gate, far->leaders[machine], &mail, v_ns);
        }
    }
}
