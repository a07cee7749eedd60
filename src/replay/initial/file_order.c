/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/file_order_internal.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* ---- states ---- */

enum wio_status rp_name_state_of(struct rp_file_order *order, const char *name, size_t bytes,
                                 enum subject subject, struct rp_name_state **state_out)
{
    uint32_t id;
    WIO_TRY(wio_strtab_add(&order->names, name, bytes, &id));
    uint64_t key = (uint64_t)id << 2 | (uint64_t)subject;
    const uint64_t *place = wio_map_get(&order->by_name, key);
    if (place != NULL) {
        *state_out = &order->states[*place];
        return WIO_OK;
    }
    WIO_TRY(wio_grow((void **)&order->states, sizeof(*order->states), &order->state_capacity,
                     order->state_count + 1));
    WIO_TRY(wio_map_put(&order->by_name, key, order->state_count));
    *state_out = &order->states[order->state_count++];
    **state_out = (struct rp_name_state){.subject = (uint8_t)subject};
    return WIO_OK;
}

static enum wio_status new_use(struct rp_file_order *order, const struct step *step, uint32_t next,
                               uint32_t *use_out)
{
    uint32_t index = order->use_free;
    if (index != 0) {
        order->use_free = order->uses[index - 1].next;
    } else {
        WIO_TRY(wio_grow((void **)&order->uses, sizeof(*order->uses), &order->use_capacity,
                         order->use_count + 1));
        index = ++order->use_count;
    }
    order->uses[index - 1] = (struct rp_name_use){*step, next};
    *use_out = index;
    return WIO_OK;
}

static uint64_t use_key(const struct rp_file_order *order, const struct rp_name_state *state,
                        const struct step *step)
{
    uint64_t place = (uint64_t)(state - order->states);
    return place << 33 | (uint64_t)step->stream << 1 | (step->access == EXTENDS);
}

/* One for each stream and kind of access: a later one of the same stream stands for the earlier. */
static enum wio_status keep_use(struct rp_file_order *order, struct rp_name_state *state,
                                const struct step *step)
{
    uint64_t key = use_key(order, state, step);
    const uint64_t *known = wio_map_get(&order->use_of, key);
    if (known != NULL) {
        order->uses[*known - 1].step = *step;
        return WIO_OK;
    }
    uint32_t *first = &state->uses[step->access];
    WIO_TRY(new_use(order, step, *first, first));
    return wio_map_put(&order->use_of, key, *first);
}

static void drop_uses(struct rp_file_order *order, struct rp_name_state *state, enum access access)
{
    while (state->uses[access] != 0) {
        uint32_t index = state->uses[access];
        struct rp_name_use *use = &order->uses[index - 1];
        (void)wio_map_remove(&order->use_of, use_key(order, state, &use->step));
        state->uses[access] = use->next;
        use->next = order->use_free;
        order->use_free = index;
    }
}

/* ---- precedence ---- */

static bool differ(uint8_t left, uint8_t right)
{
    return left != UNKNOWN && right != UNKNOWN && left != right;
}

/* The latest event that one of the stream comes after. */
static uint64_t latest_of(const struct rp_file_order *order, uint32_t stream)
{
    const uint64_t *latest_ns = wio_map_get(&order->latest, stream);
    return latest_ns == NULL ? 0 : *latest_ns;
}

/* `later` began later, but was it first? They overlap, and .. Not where it may itself come after
 * the other one: threads would wait for each other. */
static bool is_reversed(const struct rp_file_order *order, const struct rp_name_state *state,
                        const struct step *earlier, const struct step *later)
{
    if (earlier->end_ns <= later->t_ns || earlier->stream == later->stream ||
        latest_of(order, later->stream) >= earlier->t_ns) {
        return false;
    }
    switch (later->access) {
    case CHANGES:
        if (earlier->access == LOOKS) { /* .. the lookup found what the change left */
            return earlier->after != UNKNOWN && earlier->after == later->after;
        }
        /* .. the later one found what was there before the earlier one, which undid it */
        return earlier->access == CHANGES && differ(earlier->needs, later->needs) &&
               differ(state->before.after, earlier->needs) && earlier->after != UNKNOWN &&
               earlier->after == later->needs;
    case LOOKS: /* .. the lookup did not find what the change left */
        return earlier->access == CHANGES && differ(earlier->after, later->after);
    default:
        return false;
    }
}

/* Has an earlier event of the stream waited for this already? */
static enum wio_status is_known(struct rp_file_order *order, const struct step *first,
                                const struct step *then, bool *is_known_out)
{
    uint64_t key = (uint64_t)then->stream << 32 | first->stream;
    const uint64_t *last_ns = wio_map_get(&order->known, key);
    *is_known_out = last_ns != NULL && *last_ns >= first->t_ns;
    return *is_known_out ? WIO_OK : wio_map_put(&order->known, key, first->t_ns);
}

static enum wio_status precede(struct rp_file_order *order, const struct step *first,
                               const struct step *then)
{
    bool is_done = first->stream == then->stream || first->t_ns >= order->barrier_ns;
    if (first->t_ns > then->t_ns && first->stream != then->stream) {
        is_done = false; /* reversed: from now on the event comes after nothing that began later */
        order->barrier_ns = then->t_ns < order->barrier_ns ? then->t_ns : order->barrier_ns;
    }
    if (!is_done && first->t_ns <= then->t_ns) { /* else `then` lies behind what was seen last */
        WIO_TRY(is_known(order, first, then, &is_done));
    }
    if (is_done) {
        return WIO_OK;
    }
    WIO_TRY(wio_grow((void **)&order->items, sizeof(*order->items), &order->capacity,
                     order->count + 1));
    order->items[order->count++] =
        (struct rp_precedence){then->stream, first->stream, then->seq, first->t_ns};
    return first->t_ns <= latest_of(order, then->stream)
               ? WIO_OK
               : wio_map_put(&order->latest, then->stream, first->t_ns);
}

static enum wio_status follow_uses(struct rp_file_order *order, const struct rp_name_state *state,
                                   enum access access, const struct step *step)
{
    for (uint32_t i = state->uses[access]; i != 0; i = order->uses[i - 1].next) {
        const struct step *use = &order->uses[i - 1].step;
        bool is_swapped = is_reversed(order, state, use, step);
        WIO_TRY(precede(order, is_swapped ? step : use, is_swapped ? use : step));
    }
    return WIO_OK;
}

enum wio_status rp_name_meet(struct rp_file_order *order, struct rp_name_state *state,
                             const struct step *step)
{
    bool is_first = state->change.end_ns != 0 && is_reversed(order, state, &state->change, step);
    if (is_first && state->before.end_ns != 0) {
        WIO_TRY(precede(order, &state->before, step));
    }
    if (state->change.end_ns != 0) {
        WIO_TRY(precede(order, is_first ? step : &state->change, is_first ? &state->change : step));
    }
    if (is_first && step->access == LOOKS) {
        return WIO_OK; /* what comes later comes after the change */
    }
    if (!is_first && step->after != UNKNOWN) {
        state->presence = step->after;
    }
    /* a read that finds too little is tried again, a directory is not read again */
    if (step->access != LOOKS) {
        WIO_TRY(follow_uses(order, state, LOOKS, step));
    }
    if (step->access == CHANGES || (step->access == LOOKS && state->subject == ENTRIES)) {
        WIO_TRY(follow_uses(order, state, EXTENDS, step));
    }
    if (step->access != CHANGES) {
        return keep_use(order, state, step);
    }
    drop_uses(order, state, LOOKS);
    drop_uses(order, state, EXTENDS);
    if (is_first) {
        state->before = *step;
        return WIO_OK;
    }
    state->before = state->change;
    state->change = *step;
    return WIO_OK;
}

/* ---- after the last event ---- */

static int by_stream_seq_and_time(const void *a, const void *b)
{
    const struct rp_precedence *left = a;
    const struct rp_precedence *right = b;
    if (left->stream != right->stream) {
        return left->stream < right->stream ? -1 : 1;
    }
    if (left->seq != right->seq) {
        return left->seq < right->seq ? -1 : 1;
    }
    return (left->other_ns > right->other_ns) - (left->other_ns < right->other_ns);
}

static void release_states(struct rp_file_order *order)
{
    wio_strtab_fini(&order->names);
    wio_map_fini(&order->by_name);
    wio_map_fini(&order->use_of);
    wio_map_fini(&order->known);
    wio_map_fini(&order->latest);
    free(order->states);
    free(order->uses);
    order->states = NULL;
    order->uses = NULL;
}

enum wio_status rp_file_order_finish(struct rp_file_order *order, uint32_t stream_count)
{
    release_states(order);
    if (order->count != 0) {
        qsort(order->items, order->count, sizeof(*order->items), by_stream_seq_and_time);
    }
    order->first = calloc((size_t)stream_count + 1, sizeof(*order->first));
    if (order->first == NULL) {
        return WIO_ERR_NOMEM;
    }
    order->stream_count = stream_count;
    for (uint32_t i = 0; i < order->count; i++) {
        if (order->items[i].stream < stream_count) {
            order->first[order->items[i].stream + 1] = i + 1;
        }
    }
    for (uint32_t i = 1; i <= stream_count; i++) {
        order->first[i] =
            order->first[i] > order->first[i - 1] ? order->first[i] : order->first[i - 1];
    }
    return WIO_OK;
}

void rp_file_order_fini(struct rp_file_order *order)
{
    release_states(order);
    free(order->items);
    free(order->first);
    *order = (struct rp_file_order){0};
}
