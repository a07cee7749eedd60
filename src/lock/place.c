/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, and the trees of a segment: balanced by tree(3bsd), each node with the greatest end of
 * its subtree by mode, so that what overlaps is found in O(log n + found) (an interval tree). */
#include <string.h>

#include "base/cleanup.h"
#include "lock/lock_internal.h"

static int compare_places(const struct lock_item *a, const struct lock_item *b)
{
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The ends of an item's subtree, out of its own and those of its children. True: they changed. */
static bool refresh(struct lock_item *item)
{
    const struct lock_item *left = RB_LEFT(item, by_place);
    const struct lock_item *right = RB_RIGHT(item, by_place);
    bool is_changed = false;
    for (unsigned mode = 0; mode < WIO_LOCK_MODES; mode++) {
        uint64_t last = mode == item->mode ? item->to : 0;
        last = greatest(last, left != NULL ? left->last_to[mode] : 0);
        last = greatest(last, right != NULL ? right->last_to[mode] : 0);
        is_changed |= last != item->last_to[mode];
        item->last_to[mode] = last;
    }
    return is_changed;
}

/* The macros call this for the lowest item that changed only. */
static void augment(struct lock_item *item)
{
    while (item != NULL && refresh(item)) {
        item = RB_PARENT(item, by_place);
    }
}

#undef RB_AUGMENT
#define RB_AUGMENT(item) augment(item)
RB_GENERATE_STATIC(lock_places, lock_item, by_place, compare_places)
#undef RB_AUGMENT
#define RB_AUGMENT(item) (void)0

static int compare_files(const struct lock_file *a, const struct lock_file *b)
{
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    return (a->segment > b->segment) - (a->segment < b->segment);
}

RB_GENERATE_STATIC(lock_files, lock_file, by_name, compare_files)

static bool is_in(const struct lock_item *item, const struct lock_window *window)
{
    return item->from < window->to && item->to > window->from &&
           (window->modes & 1u << item->mode) != 0;
}

/* Some item of the subtree ends behind the window's begin. */
static bool reaches(const struct lock_item *root, const struct lock_window *window)
{
    if (root == NULL) {
        return false;
    }
    for (unsigned mode = 0; mode < WIO_LOCK_MODES; mode++) {
        if ((window->modes & 1u << mode) != 0 && root->last_to[mode] > window->from) {
            return true;
        }
    }
    return false;
}

/* Where the left subtree reaches, the first one is there or nowhere: what reaches but is not in the
 * window begins behind it, and so does all that is right of that. */
static struct lock_item *first_below(struct lock_item *root, const struct lock_window *window)
{
    while (reaches(root, window)) {
        if (reaches(RB_LEFT(root, by_place), window)) {
            root = RB_LEFT(root, by_place);
        } else if (is_in(root, window)) {
            return root;
        } else if (root->from >= window->to) {
            return NULL;
        } else {
            root = RB_RIGHT(root, by_place);
        }
    }
    return NULL;
}

struct lock_item *lock_place_first(const struct lock_places *places,
                                   const struct lock_window *window)
{
    return first_below(RB_ROOT(places), window);
}

struct lock_item *lock_place_next(struct lock_item *item, const struct lock_window *window)
{
    while (!reaches(RB_RIGHT(item, by_place), window)) {
        const struct lock_item *below;
        do {
            below = item;
            item = RB_PARENT(item, by_place);
        } while (item != NULL && below == RB_RIGHT(item, by_place));
        if (item == NULL || item->from >= window->to) {
            return NULL;
        }
        if (is_in(item, window)) {
            return item;
        }
    }
    return first_below(RB_RIGHT(item, by_place), window);
}

static void *take(const struct wio_alloc *alloc, size_t size)
{
    return alloc->get(alloc->context, size);
}

struct lock_file *lock_file_find(const struct wio_locks *locks, uint64_t file, uint32_t segment)
{
    /* The macros want a head that is not const; RB_FIND changes nothing. */
    struct lock_files files = locks->files;
    struct lock_file key = {.file = file, .segment = segment};
    return RB_FIND(lock_files, &files, &key);
}

static struct lock_file *file_of(struct wio_locks *locks, uint64_t file, uint32_t segment)
{
    struct lock_file *found = lock_file_find(locks, file, segment);
    if (found != NULL) {
        return found;
    }
    found = locks->free_files;
    if (found != NULL) {
        locks->free_files = found->next_free;
    } else if ((found = take(&locks->alloc, sizeof(*found))) == NULL) {
        return NULL;
    }
    memset(found, 0, sizeof(*found));
    found->file = file;
    found->segment = segment;
    RB_INSERT(lock_files, &locks->files, found);
    locks->count.files++;
    return found;
}

static void leave_file(struct wio_locks *locks, struct lock_file *file)
{
    if (--file->items == 0) {
        RB_REMOVE(lock_files, &locks->files, file);
        file->next_free = locks->free_files;
        locks->free_files = file;
        locks->count.files--;
    }
}

struct lock_item *lock_item_add(struct wio_locks *locks, struct wio_lock_owner *owner,
                                const struct wio_lock_range *range)
{
    struct lock_item *item = TAILQ_FIRST(&locks->free_items);
    if (item != NULL) {
        TAILQ_REMOVE(&locks->free_items, item, by_event);
    } else if ((item = take(&locks->alloc, sizeof(*item))) == NULL) {
        return NULL;
    }
    memset(item, 0, sizeof(*item));
    item->file = file_of(locks, range->file, range->segment);
    if (item->file == NULL) {
        TAILQ_INSERT_HEAD(&locks->free_items, item, by_event);
        return NULL;
    }
    item->file->items++;
    item->from = range->from;
    item->to = range->to;
    item->owner = owner;
    item->order = locks->orders++;
    item->is_told = true;
    TAILQ_INSERT_TAIL(&owner->items, item, by_owner);
    locks->items++;
    return item;
}

void lock_item_drop(struct wio_locks *locks, struct lock_item *item)
{
    TAILQ_REMOVE(&item->owner->items, item, by_owner);
    leave_file(locks, item->file);
    TAILQ_INSERT_HEAD(&locks->free_items, item, by_event);
    locks->items--;
}

void lock_item_enter(struct wio_locks *locks, struct lock_item *item, enum lock_state state)
{
    WIO_PRE(state != LOCK_REFUSED);
    memset(item->last_to, 0, sizeof(item->last_to));
    item->last_to[item->mode] = item->to;
    item->state = (uint8_t)state;
    if (state == LOCK_HELD) {
        RB_INSERT(lock_places, &item->file->held, item);
        locks->count.held++;
        item->owner->held++;
    } else {
        RB_INSERT(lock_places, &item->file->waiting, item);
        locks->count.waiting++;
    }
}

void lock_item_leave(struct wio_locks *locks, struct lock_item *item)
{
    if (item->state == LOCK_HELD) {
        RB_REMOVE(lock_places, &item->file->held, item);
        locks->count.held--;
        item->owner->held--;
    } else {
        RB_REMOVE(lock_places, &item->file->waiting, item);
        locks->count.waiting--;
    }
}

void lock_memory_free(struct wio_locks *locks)
{
    const struct wio_alloc *alloc = &locks->alloc;
    struct lock_item *item;
    struct wio_lock_owner *owner;
    struct lock_file *file;
    while ((item = TAILQ_FIRST(&locks->free_items)) != NULL) {
        TAILQ_REMOVE(&locks->free_items, item, by_event);
        alloc->put(alloc->context, item);
    }
    while ((owner = TAILQ_FIRST(&locks->free_owners)) != NULL) {
        TAILQ_REMOVE(&locks->free_owners, owner, by_manager);
        alloc->put(alloc->context, owner);
    }
    while ((file = locks->free_files) != NULL) {
        locks->free_files = file->next_free;
        alloc->put(alloc->context, file);
    }
}
