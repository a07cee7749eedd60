/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/shared.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

static bool is_dup(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_DUP ||
           (event->op == WIO_OP_fcntl &&
            (event->arg[0] == F_DUPFD || event->arg[0] == F_DUPFD_CLOEXEC));
}

static bool is_stdio(const struct wio_event *event, enum wio_class cls)
{
    return cls == WIO_CLASS_STDIO_READ || cls == WIO_CLASS_STDIO_WRITE ||
           cls == WIO_CLASS_STDIO_SEEK || cls == WIO_CLASS_STDIO_FLUSH ||
           event->op == WIO_OP_fdopen || event->op == WIO_OP_fdopendir ||
           event->op == WIO_OP_fclose || event->op == WIO_OP_pclose ||
           event->op == WIO_OP_dprintf || event->op == WIO_OP_vdprintf;
}

void rp_fd_effect_of(const struct wio_event *event, struct rp_fd_effect *effect_out)
{
    *effect_out = (struct rp_fd_effect){-1, -1, {-1, -1}};
    enum wio_class cls = wio_op_class(event->op);
    if (is_stdio(event, cls)) {
        return; /* the system calls that it caused tell */
    }
    bool gives = cls == WIO_CLASS_OPEN || is_dup(event) || event->op == WIO_OP_uring_open;
    if (gives && event->error == 0 && event->result >= 0 && event->result < INT32_MAX) {
        effect_out->gives = event->result;
    }
    bool takes = event->op == WIO_OP_close || event->op == WIO_OP_closedir ||
                 event->op == WIO_OP_uring_close;
    if (event->fd < 0) {
        return;
    }
    if (takes) {
        effect_out->takes = event->fd;
    } else if (cls != WIO_CLASS_OPEN) {
        effect_out->uses[0] = event->fd;
        effect_out->uses[1] = event->fd2 >= 0 ? event->fd2 : -1;
    }
}

enum wio_status rp_shared_init(struct rp_shared *shared, const struct rp_family *family)
{
    shared->family = family;
    shared->life_free = RP_NONE;
    shared->first = calloc((size_t)family->image_count + 1, sizeof(*shared->first));
    return shared->first == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

void rp_shared_fini(struct rp_shared *shared)
{
    free(shared->items);
    free(shared->lives);
    free(shared->first);
    wio_map_fini(&shared->open);
    *shared = (struct rp_shared){0};
}

static uint64_t open_key(uint32_t image, int64_t fd)
{
    return (uint64_t)image << 32 | (uint32_t)fd;
}

static enum wio_status new_life(struct rp_shared *shared, uint32_t *life_out)
{
    if (shared->life_free != RP_NONE) {
        *life_out = shared->life_free;
        shared->life_free = shared->lives[*life_out].share;
        return WIO_OK;
    }
    void *lives = shared->lives;
    WIO_TRY(wio_make_room(&lives, sizeof(*shared->lives), &shared->life_capacity,
                          shared->life_count + 1));
    shared->lives = lives;
    *life_out = shared->life_count++;
    return WIO_OK;
}

static enum wio_status new_share(struct rp_shared *shared, uint32_t image, int32_t fd,
                                 struct rp_life *life)
{
    void *items = shared->items;
    WIO_TRY(wio_make_room(&items, sizeof(*shared->items), &shared->capacity, shared->count + 1));
    shared->items = items;
    life->share = shared->count++;
    shared->items[life->share] =
        (struct rp_share){image, fd, life->opener, life->open_ns, UINT64_MAX, life->uses};
    return WIO_OK;
}

static void end_life(struct rp_shared *shared, uint32_t image, int64_t fd, uint64_t t_ns)
{
    const uint64_t *found = wio_map_get(&shared->open, open_key(image, fd));
    if (found == NULL) {
        return;
    }
    uint32_t index = (uint32_t)*found;
    struct rp_life *life = &shared->lives[index];
    if (life->share != RP_NONE) {
        shared->items[life->share].close_ns = t_ns;
    }
    life->share = shared->life_free;
    shared->life_free = index;
    (void)wio_map_remove(&shared->open, open_key(image, fd));
}

static enum wio_status use(struct rp_shared *shared, const struct wio_event *event, uint32_t image,
                           int64_t fd, bool is_end)
{
    const uint64_t *found = fd < 0 ? NULL : wio_map_get(&shared->open, open_key(image, fd));
    if (found == NULL) {
        return WIO_OK;
    }
    struct rp_life *life = &shared->lives[*found];
    if (event->stream != life->opener && life->share == RP_NONE) {
        WIO_TRY(new_share(shared, image, (int32_t)fd, life));
    }
    life->uses += is_end ? 0 : 1;
    if (life->share != RP_NONE) {
        shared->items[life->share].uses = life->uses;
    }
    return WIO_OK;
}

static enum wio_status give(struct rp_shared *shared, const struct wio_event *event, uint32_t image,
                            int64_t fd)
{
    uint32_t life;
    end_life(shared, image, fd, event->t_ns);
    WIO_TRY(new_life(shared, &life));
    shared->lives[life] = (struct rp_life){event->stream, RP_NONE, event->t_ns, 0};
    return wio_map_put(&shared->open, open_key(image, fd), life);
}

enum wio_status rp_shared_see(struct rp_shared *shared, const struct wio_event *event)
{
    if (event->stream >= shared->family->stream_count) {
        return WIO_OK;
    }
    uint32_t image = shared->family->streams[event->stream].image;
    if (image == RP_NONE || shared->family->images[image].stream_count < 2) {
        return WIO_OK;
    }
    struct rp_fd_effect effect;
    rp_fd_effect_of(event, &effect);
    WIO_TRY(use(shared, event, image, effect.uses[0], false));
    WIO_TRY(use(shared, event, image, effect.uses[1], false));
    if (effect.takes >= 0) {
        WIO_TRY(use(shared, event, image, effect.takes, true));
        end_life(shared, image, effect.takes, event->t_ns);
    }
    return effect.gives >= 0 ? give(shared, event, image, effect.gives) : WIO_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct rp_share *x = a;
    const struct rp_share *y = b;
    if (x->image != y->image) {
        return x->image < y->image ? -1 : 1;
    }
    if (x->fd != y->fd) {
        return x->fd < y->fd ? -1 : 1;
    }
    return (x->open_ns > y->open_ns) - (x->open_ns < y->open_ns);
}

enum wio_status rp_shared_finish(struct rp_shared *shared)
{
    wio_map_fini(&shared->open);
    shared->open = (struct wio_map){0};
    free(shared->lives);
    shared->lives = NULL;
    if (shared->count > 0) {
        qsort(shared->items, shared->count, sizeof(shared->items[0]), by_place);
    }
    uint32_t at = 0;
    for (uint32_t image = 0; image < shared->family->image_count; image++) {
        shared->first[image] = at;
        while (at < shared->count && shared->items[at].image == image) {
            at++;
        }
    }
    shared->first[shared->family->image_count] = at;
    return WIO_OK;
}

/* In the order of descriptors, and of moments for each. */
static bool is_opened_later(const struct rp_share *item, int32_t fd, uint64_t t_ns)
{
    return item->fd > fd || (item->fd == fd && item->open_ns > t_ns);
}

uint32_t rp_shared_find(const struct rp_shared *shared, uint32_t image, int32_t fd, uint64_t t_ns)
{
    size_t behind = WIO_FIRST(i, shared->first[image], shared->first[image + 1],
                              is_opened_later(&shared->items[i], fd, t_ns));
    if (behind == shared->first[image]) {
        return RP_NONE;
    }
    const struct rp_share *item = &shared->items[behind - 1];
    return item->fd == fd && t_ns <= item->close_ns ? (uint32_t)behind - 1 : RP_NONE;
}
