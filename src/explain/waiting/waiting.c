/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/waiting/waiting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* Causes below this part of the path's length are noise. */
#define LEAST_PART 0.002

struct explanation {
    struct wio_wait_part parts[WIO_WAIT_PARTS];
    uint32_t count;
    uint32_t step;
    double scale;
    uint64_t wait_ns;
};

void wio_waiting_fini(struct wio_waiting *waiting)
{
    for (uint32_t i = 0; i < waiting->class_count; i++) {
        wio_rank_set_fini(&waiting->classes[i].ranks);
    }
    free(waiting->classes);
    free(waiting->caused_ns);
    free(waiting->scratch);
    free(waiting->touched);
}

/* ---- path(B) - path(A) ---- */

/* `cause` + 1 is the place in the scratch: 0 is the chain that goes on. */
static enum wio_status add(struct wio_waiting *waiting, uint32_t place, int64_t ns)
{
    void *array = waiting->touched;

    if (waiting->scratch[place] == 0) {
        WIO_TRY(wio_make_room(&array, sizeof(uint32_t), &waiting->touched_capacity,
                              waiting->touched_count + 1));
        waiting->touched = array;
        waiting->touched[waiting->touched_count++] = place;
    }
    waiting->scratch[place] += ns;
    return WIO_OK;
}

/* Add the chain from `path` to `end`, which it contains; its length is added to *length_ns. */
static enum wio_status add_chain(struct wio_waiting *waiting, const struct wio_path *path,
                                 const struct wio_path *end, int sign, uint64_t *length_ns)
{
    uint32_t jumps = path != NULL ? path->jumps : 0;

    for (; path != NULL && path != end; path = path->parent) {
        bool is_deep = sign > 0 && jumps - path->jumps > WIO_WAIT_DEPTH;
        for (uint32_t i = 0; i < path->count; i++) {
            const struct wio_step *step = &waiting->steps->steps[path->parts[i].step];
            int64_t ns = (int64_t)path->parts[i].ns;
            if (waiting->steps->sites[step->site].kind == WIO_STEP_SHADOW) {
                continue;
            }
            *length_ns += path->parts[i].ns;
            WIO_TRY(add(waiting, is_deep ? 0 : step->cause + 1, sign * ns));
        }
    }
    return WIO_OK;
}

/* Keep the largest; the scratch is zero again behind it. */
static void take_parts(struct wio_waiting *waiting, uint64_t length_ns, struct explanation *out)
{
    double sum = 0;

    for (uint32_t i = 0; i < waiting->touched_count; i++) {
        uint32_t place = waiting->touched[i];
        struct wio_wait_part part = {place - 1,
                                     (double)waiting->scratch[place] / (double)length_ns};
        uint32_t least = 0;
        waiting->scratch[place] = 0;
        if (fabs(part.relative) < LEAST_PART) {
            continue;
        }
        if (out->count < WIO_WAIT_PARTS) {
            out->parts[out->count++] = part;
            continue;
        }
        for (uint32_t k = 1; k < out->count; k++) {
            least = fabs(out->parts[k].relative) < fabs(out->parts[least].relative) ? k : least;
        }
        if (fabs(part.relative) > fabs(out->parts[least].relative)) {
            out->parts[least] = part;
        }
    }
    waiting->touched_count = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        sum += out->parts[i].relative;
    }
    out->scale = sum > 0 ? 1 / sum : 0;
}

static int by_cause(const void *a, const void *b)
{
    uint32_t x = ((const struct wio_wait_part *)a)->cause;
    uint32_t y = ((const struct wio_wait_part *)b)->cause;

    return x < y ? -1 : x > y;
}

static enum wio_status explain(struct wio_waiting *waiting, const struct wio_path *mine,
                               const struct wio_path *theirs, struct explanation *out)
{
    const struct wio_path *common = wio_path_common(mine, theirs);
    void *scratch = waiting->scratch;
    uint64_t length_ns = 0;
    uint64_t mine_ns = 0;

    WIO_TRY(
        wio_grow(&scratch, sizeof(int64_t), &waiting->scratch_capacity, waiting->steps->count + 1));
    waiting->scratch = scratch;
    WIO_TRY(add_chain(waiting, theirs, common, 1, &length_ns));
    WIO_TRY(add_chain(waiting, mine, common, -1, &mine_ns));
    take_parts(waiting, length_ns > 0 ? length_ns : 1, out);
    qsort(out->parts, out->count, sizeof(out->parts[0]), by_cause);
    return WIO_OK;
}

/* ---- classes ---- */

static double distance(const struct wio_wait_class *class, const struct explanation *one)
{
    double sum = 0;
    uint32_t i = 0;
    uint32_t k = 0;

    while (i < class->part_count || k < one->count) {
        const struct wio_wait_part *a = i < class->part_count ? &class->parts[i] : NULL;
        const struct wio_wait_part *b = k < one->count ? &one->parts[k] : NULL;
        if (b == NULL || (a != NULL && a->cause < b->cause)) {
            sum += fabs(a->relative);
            i++;
        } else if (a == NULL || b->cause < a->cause) {
            sum += fabs(b->relative);
            k++;
        } else {
            sum += fabs(a->relative - b->relative);
            i++;
            k++;
        }
    }
    return sum;
}

static struct wio_wait_class *find_class(struct wio_waiting *waiting, const struct explanation *one)
{
    struct wio_wait_class *class;

    if (waiting->last_class < waiting->class_count &&
        distance(&waiting->classes[waiting->last_class], one) < WIO_WAIT_DISTANCE) {
        return &waiting->classes[waiting->last_class];
    }
    for (uint32_t i = 0; i < waiting->class_count; i++) {
        if (distance(&waiting->classes[i], one) < WIO_WAIT_DISTANCE) {
            waiting->last_class = i;
            return &waiting->classes[i];
        }
    }
    if (waiting->class_count == WIO_WAIT_CLASSES) {
        return NULL;
    }
    waiting->last_class = waiting->class_count;
    class = &waiting->classes[waiting->class_count++];
    *class = (struct wio_wait_class){
        .part_count = one->count, .step = one->step, .scale = one->scale, .least_ns = UINT64_MAX};
    memcpy(class->parts, one->parts, sizeof(class->parts));
    return class;
}

static int32_t rank_of(const struct wio_waiting *waiting, uint32_t step)
{
    const struct wio_stream_info *stream =
        wio_trace_stream(waiting->trace, waiting->steps->steps[step].stream);

    return wio_trace_process(waiting->trace, stream->process)->rank;
}

/* What the causes of others cost in waiting. */
static enum wio_status blame(struct wio_waiting *waiting, const struct explanation *one)
{
    void *array = waiting->caused_ns;
    double positive = 0;

    WIO_TRY(
        wio_grow(&array, sizeof(uint64_t), &waiting->caused_capacity, waiting->steps->count + 1));
    waiting->caused_ns = array;
    for (uint32_t i = 0; i < one->count; i++) {
        positive += one->parts[i].relative > 0 ? one->parts[i].relative : 0;
    }
    for (uint32_t i = 0; i < one->count; i++) {
        const struct wio_wait_part *part = &one->parts[i];
        if (part->relative > 0 && part->cause != WIO_NO_STEP) {
            waiting->caused_ns[part->cause] +=
                (uint64_t)(part->relative / positive * (double)one->wait_ns);
        }
    }
    return WIO_OK;
}

enum wio_status wio_waiting_add(void *arg, uint32_t step, const struct wio_path *mine,
                                const struct wio_wait_release *release, uint64_t begin_ns)
{
    struct wio_waiting *waiting = arg;
    struct explanation one = {.step = step, .wait_ns = release->ns - begin_ns};
    struct wio_wait_class *class;

    if (waiting->classes == NULL) {
        waiting->classes = calloc(WIO_WAIT_CLASSES, sizeof(*waiting->classes));
        if (waiting->classes == NULL) {
            return WIO_ERR_NOMEM;
        }
    }
    WIO_TRY(explain(waiting, mine, release->path, &one));
    WIO_TRY(blame(waiting, &one));
    waiting->total_ns += one.wait_ns;
    waiting->count++;
    class = find_class(waiting, &one);
    if (class == NULL) {
        waiting->rest_ns += one.wait_ns;
        return WIO_OK;
    }
    class->count++;
    class->total_ns += one.wait_ns;
    class->least_ns = one.wait_ns < class->least_ns ? one.wait_ns : class->least_ns;
    class->most_ns = one.wait_ns > class->most_ns ? one.wait_ns : class->most_ns;
    return wio_rank_set_add(&class->ranks, rank_of(waiting, step));
}

static int by_total(const void *a, const void *b)
{
    uint64_t x = ((const struct wio_wait_class *)a)->total_ns;
    uint64_t y = ((const struct wio_wait_class *)b)->total_ns;

    return x > y ? -1 : x < y;
}

void wio_waiting_sort(struct wio_waiting *waiting)
{
    if (waiting->class_count > 0) {
        qsort(waiting->classes, waiting->class_count, sizeof(*waiting->classes), by_total);
    }
}
