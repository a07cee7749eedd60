/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/file_order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/classify.h"

/* Three things of a name have an order of their own. */
enum subject { NAME = 1, LENGTH = 2, ENTRIES = 3 };

enum presence { UNKNOWN = 0, PRESENT, ABSENT };

/* What an operation did to one of them. Lookups want no order among each other, nor do those that
 * make a file longer, or change entries of a directory; what makes, removes or cuts wants one with
 * all. */
enum access { LOOKS = 0, EXTENDS = 1, CHANGES = 2 };

struct step {
    uint32_t stream;
    uint8_t access;
    uint8_t after; /* enum presence: how the name was when the operation was over */
    uint64_t seq;
    uint64_t t_ns;
    uint64_t end_ns;
};

/* The last lookup, or the last that made the file longer, of a stream since the last change. */
struct rp_name_use {
    struct step step;
    uint32_t next; /* index + 1 */
};

struct rp_name_state {
    struct step change;     /* the last one; end_ns 0 = none */
    uint32_t uses[CHANGES]; /* by access: index + 1 of the first */
    uint8_t presence;       /* enum presence */
    uint8_t subject;        /* enum subject */
    uint64_t length;        /* as far as it was written */
};

/* ---- states ---- */

static enum wio_status state_of(struct rp_file_order *order, const char *name, size_t bytes,
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

/* `later` began later, but was it first? It changed the name, while the other one looked, and that
 * one found the name as the change left it. */
static bool is_reversed(const struct step *earlier, const struct step *later)
{
    return earlier->end_ns > later->t_ns && later->access == CHANGES && earlier->access == LOOKS &&
           earlier->after != UNKNOWN && earlier->after == later->after;
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
    bool is_done = first->stream == then->stream;
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
    return WIO_OK;
}

static enum wio_status follow_uses(struct rp_file_order *order, const struct rp_name_state *state,
                                   enum access access, const struct step *step)
{
    for (uint32_t i = state->uses[access]; i != 0; i = order->uses[i - 1].next) {
        const struct step *use = &order->uses[i - 1].step;
        bool is_swapped = is_reversed(use, step);
        WIO_TRY(precede(order, is_swapped ? step : use, is_swapped ? use : step));
    }
    return WIO_OK;
}

static enum wio_status meet(struct rp_file_order *order, struct rp_name_state *state,
                            const struct step *step)
{
    if (state->change.end_ns != 0) {
        WIO_TRY(precede(order, &state->change, step));
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
    state->change = *step;
    return WIO_OK;
}

/* ---- names ---- */

static bool is_about_name(int error)
{
    return error == 0 || error == ENOENT || error == EEXIST;
}

/* How the name is after the operation, if it takes one and worked. */
static enum presence made_of(const struct wio_event *event, bool is_second)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return PRESENT;
    case WIO_CLASS_UNLINK:
        return ABSENT;
    case WIO_CLASS_RENAME:
        return is_second ? PRESENT : ABSENT;
    case WIO_CLASS_LINK:
        return is_second ? PRESENT : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

static bool may_make(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_OPEN && (wio_open_flags(event) & O_CREAT) != 0;
}

static size_t parent_bytes(const char *name)
{
    const char *end = strrchr(name, '/');
    return end == NULL ? 0 : (size_t)(end - name);
}

static enum wio_status see_entries(struct rp_file_order *order, struct step step, const char *name,
                                   size_t bytes, enum access access)
{
    struct rp_name_state *state;
    WIO_TRY(state_of(order, name, bytes, ENTRIES, &state));
    step.access = (uint8_t)access;
    step.after = UNKNOWN;
    return meet(order, state, &step);
}

static enum wio_status see_name(struct rp_file_order *order, const struct wio_event *event,
                                struct step step, const char *name, bool is_second)
{
    struct rp_name_state *state;
    if (name[0] != '/' || !is_about_name(event->error)) {
        return WIO_OK;
    }
    WIO_TRY(state_of(order, name, strlen(name), NAME, &state));
    enum presence made = event->error == 0 ? made_of(event, is_second) : UNKNOWN;
    bool is_made = event->error == 0 && may_make(event) &&
                   (state->presence != PRESENT || (wio_open_flags(event) & O_EXCL) != 0);
    step.after = (uint8_t)(event->error == ENOENT ? ABSENT : PRESENT);
    if (made != UNKNOWN || is_made) {
        WIO_TRY(see_entries(order, step, name, parent_bytes(name), EXTENDS));
        WIO_TRY(state_of(order, name, strlen(name), NAME, &state)); /* it may have moved */
        step.access = CHANGES;
        step.after = (uint8_t)(made == UNKNOWN ? PRESENT : made);
    }
    WIO_TRY(meet(order, state, &step));
    state->presence = step.after;
    return WIO_OK;
}

/* The directory of a name is looked up with it. */
static enum wio_status see_parent(struct rp_file_order *order, const struct wio_event *event,
                                  struct step step, const char *name)
{
    struct rp_name_state *state;
    size_t bytes = parent_bytes(name);
    if (name[0] != '/' || bytes == 0 || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(state_of(order, name, bytes, NAME, &state));
    step.after = PRESENT;
    return meet(order, state, &step);
}

/* ---- lengths ---- */

static bool cuts(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_SIZE ||
           (cls == WIO_CLASS_OPEN && (wio_open_flags(event) & O_TRUNC) != 0);
}

static bool meets_end(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return (cls == WIO_CLASS_STAT && S_ISREG((mode_t)event->arg[1])) ||
           (cls == WIO_CLASS_READ && event->result >= 0 && event->size != WIO_NO_SIZE &&
            (uint64_t)event->result < event->size);
}

static uint64_t written_end(const struct wio_event *event)
{
    return event->offset == WIO_NO_OFFSET ? UINT64_MAX
                                          : (uint64_t)event->offset + (uint64_t)event->result;
}

static bool is_write(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_WRITE && event->result > 0;
}

static enum wio_status see_length(struct rp_file_order *order, const struct wio_event *event,
                                  struct step step, const char *name)
{
    struct rp_name_state *state;
    bool is_cut = cuts(event);
    if (name[0] != '/' || event->error != 0 || (!is_cut && !meets_end(event) && !is_write(event))) {
        return WIO_OK;
    }
    WIO_TRY(state_of(order, name, strlen(name), LENGTH, &state));
    if (is_write(event)) {
        uint64_t end = written_end(event);
        if (end <= state->length) {
            return WIO_OK;
        }
        state->length = end == UINT64_MAX ? state->length : end;
        step.access = EXTENDS;
    } else if (is_cut) {
        state->length = 0;
        step.access = CHANGES;
    }
    return meet(order, state, &step);
}

/* ---- all of it ---- */

enum wio_status rp_file_order_see(struct rp_file_order *order, const struct wio_event *event,
                                  const char *path, const char *path2)
{
    const struct step step = {.stream = event->stream,
                              .seq = event->seq,
                              .t_ns = event->t_ns,
                              .end_ns = event->t_ns + event->dur_ns + 1};
    enum wio_class cls = wio_op_class(event->op);
    bool is_pair = cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK;
    if ((wio_class_properties(cls) & WIO_DOES_BY_NAME) != 0 &&
        (event->fd < 0 || cls == WIO_CLASS_OPEN)) {
        WIO_TRY(see_parent(order, event, step, path));
        WIO_TRY(see_name(order, event, step, path, false));
        if (is_pair) {
            WIO_TRY(see_parent(order, event, step, path2));
            WIO_TRY(see_name(order, event, step, path2, true));
        }
    }
    if (cls == WIO_CLASS_READDIR && path[0] == '/') {
        return see_entries(order, step, path, strlen(path), LOOKS);
    }
    return see_length(order, event, step, path);
}

static int by_stream_and_seq(const void *a, const void *b)
{
    const struct rp_precedence *left = a;
    const struct rp_precedence *right = b;
    if (left->stream != right->stream) {
        return left->stream < right->stream ? -1 : 1;
    }
    return (left->seq > right->seq) - (left->seq < right->seq);
}

static void release_states(struct rp_file_order *order)
{
    wio_strtab_fini(&order->names);
    wio_map_fini(&order->by_name);
    wio_map_fini(&order->use_of);
    wio_map_fini(&order->known);
    free(order->states);
    free(order->uses);
    order->states = NULL;
    order->uses = NULL;
}

enum wio_status rp_file_order_finish(struct rp_file_order *order, uint32_t stream_count)
{
    release_states(order);
    if (order->count != 0) {
        qsort(order->items, order->count, sizeof(*order->items), by_stream_and_seq);
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
