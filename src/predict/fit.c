/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

/* With fewer operations of a size their spread is that of the shortest and the longest, times this
 * where it is one. */
#define FEW 5u
#define FEW_SPREAD 1.5
/* Sizes that are apart by so much tell how costs rise. */
#define APART 4.0
#define LOW_PART 0.25
#define HIGH_PART 0.75

void wio_fit_fini(struct wio_fit *fit)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        for (unsigned k = 0; k < WIO_FIT_SIZES; k++) {
            free(fit->classes[i].bins[k]);
        }
    }
    free(fit->classes);
    wio_map_fini(&fit->fs);
    *fit = (struct wio_fit){0};
}

uint32_t wio_fit_fs(const struct wio_fit *fit, uint32_t path)
{
    const uint64_t *fs = wio_map_get(&fit->fs, path);

    return fs != NULL ? (uint32_t)*fs : 0;
}

/* ---- what was seen ---- */

static unsigned bin_of(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
}

static unsigned step_of(double seconds)
{
    double octaves = seconds > 0 ? log2(seconds * 1e9) - WIO_FIT_FIRST : 0;
    double step = fmin(fmax(octaves * WIO_FIT_PARTS, 0), WIO_FIT_STEPS - 1);

    return (unsigned)step;
}

static struct wio_fit_class *find(const struct wio_fit *fit, uint32_t fs,
                                  enum wio_model_method method)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        if (fit->classes[i].fs == fs && fit->classes[i].method == method) {
            return &fit->classes[i];
        }
    }
    return NULL;
}

static enum wio_status find_bin(struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                                uint64_t bytes, struct wio_fit_bin **bin_out)
{
    struct wio_fit_class *class = find(fit, fs, method);
    unsigned number = bin_of(bytes) % WIO_FIT_SIZES;

    if (class == NULL) {
        void *array = fit->classes;
        WIO_TRY(wio_make_room(&array, sizeof(*class), &fit->room, fit->count + 1));
        fit->classes = array;
        class = &fit->classes[fit->count++];
        *class = (struct wio_fit_class){.fs = fs, .method = method};
    }
    if (class->bins[number] == NULL) {
        class->bins[number] = calloc(1, sizeof(struct wio_fit_bin));
    }
    *bin_out = class->bins[number];
    return *bin_out != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

enum wio_status wio_fit_add(struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                            uint64_t bytes, double seconds)
{
    struct wio_fit_bin *bin;

    WIO_TRY(find_bin(fit, fs, method, bytes, &bin));
    bin->least_s = bin->count == 0 ? seconds : fmin(bin->least_s, seconds);
    bin->most_s = fmax(bin->most_s, seconds);
    bin->count++;
    bin->bytes += (double)bytes;
    bin->seconds += seconds;
    bin->durations[step_of(seconds)]++;
    return WIO_OK;
}

/* ---- one size ---- */

static double quantile(const struct wio_fit_bin *bin, double part)
{
    double rank = part * (double)bin->count;
    double below = 0;
    unsigned step = 0;

    while (step + 1 < WIO_FIT_STEPS && below + bin->durations[step] <= rank) {
        below += bin->durations[step++];
    }
    double middle_s = exp2((step + 0.5) / WIO_FIT_PARTS + WIO_FIT_FIRST) / 1e9;
    return fmin(fmax(middle_s, bin->least_s), bin->most_s);
}

/* The mean lies outside of the quartiles where few take very long: then the spread reaches it. */
static double cost_of(const struct wio_fit_bin *bin, enum wio_fit_at at)
{
    double mean_s = bin->seconds / (double)bin->count;
    double spread = bin->count == 1 ? FEW_SPREAD : 1;

    switch (at) {
    case WIO_FIT_LOW:
        return bin->count < FEW ? bin->least_s / spread : fmin(quantile(bin, LOW_PART), mean_s);
    case WIO_FIT_HIGH:
        return bin->count < FEW ? bin->most_s * spread : fmax(quantile(bin, HIGH_PART), mean_s);
    case WIO_FIT_MID:
    case WIO_FIT_ATS:
        break;
    }
    return quantile(bin, 0.5);
}

static double size_of(const struct wio_fit_bin *bin)
{
    return bin->bytes / (double)bin->count;
}

/* ---- all sizes ---- */

static double between(const struct wio_fit_bin *a, const struct wio_fit_bin *b, double bytes,
                      enum wio_fit_at at)
{
    double part = (bytes - size_of(a)) / (size_of(b) - size_of(a));

    return cost_of(a, at) + part * (cost_of(b, at) - cost_of(a, at));
}

/* Outside of what was seen, beside `end`, which is the last that was; `other`: one far enough from
 * it to tell how costs rise, or NULL. */
static double beyond(const struct wio_fit_bin *end, const struct wio_fit_bin *other, double bytes,
                     enum wio_fit_at at)
{
    double ratio = bytes == size_of(end) ? 1 : bytes / fmax(size_of(end), 1e-9);
    double few = fmin(ratio, 1); /* as much of the last that was seen, at least .. */
    double many = fmax(ratio, 1);

    if (at == WIO_FIT_LOW) {
        return cost_of(end, at) * few;
    }
    if (at == WIO_FIT_HIGH) {
        return size_of(end) == 0 && many > 1 ? (double)NAN : cost_of(end, at) * many;
    }
    if (ratio == 1) {
        return cost_of(end, at);
    }
    if (other == NULL) {
        return (double)NAN;
    }
    double line = between(other, end, bytes, at);
    return fmin(fmax(line, cost_of(end, at) * few), cost_of(end, at) * many);
}

/* The first bin from `from` on, in steps, whose size is `apart` from that of `end`; NULL: none. */
static const struct wio_fit_bin *far_from(const struct wio_fit_class *class, unsigned from,
                                          int step)
{
    const struct wio_fit_bin *end = class->bins[from];

    for (unsigned i = from + (unsigned)step; i < WIO_FIT_SIZES; i += (unsigned)step) {
        const struct wio_fit_bin *bin = class->bins[i];
        if (bin != NULL &&
            (size_of(bin) >= APART * size_of(end) || size_of(end) >= APART * size_of(bin))) {
            return bin;
        }
    }
    return NULL;
}

double wio_fit_cost(const struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                    uint64_t bytes, enum wio_fit_at at)
{
    const struct wio_fit_class *class = find(fit, fs, method);
    unsigned below = WIO_FIT_SIZES;
    unsigned above = WIO_FIT_SIZES;

    for (unsigned i = 0; class != NULL && i < WIO_FIT_SIZES; i++) {
        if (class->bins[i] == NULL) {
            continue;
        }
        if (size_of(class->bins[i]) <= (double)bytes) {
            below = i;
        } else if (above == WIO_FIT_SIZES) {
            above = i;
        }
    }
    if (below < WIO_FIT_SIZES && above < WIO_FIT_SIZES) {
        return between(class->bins[below], class->bins[above], (double)bytes, at);
    }
    if (below < WIO_FIT_SIZES) {
        return beyond(class->bins[below], far_from(class, below, -1), (double)bytes, at);
    }
    return above < WIO_FIT_SIZES
               ? beyond(class->bins[above], far_from(class, above, 1), (double)bytes, at)
               : (double)NAN;
}

double wio_fit_assumed(const struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                       uint64_t bytes)
{
    const struct wio_fit_class *class = find(fit, fs, method);
    const struct wio_fit_bin *largest = NULL;

    for (unsigned i = 0; class != NULL && i < WIO_FIT_SIZES; i++) {
        largest = class->bins[i] != NULL ? class->bins[i] : largest;
    }
    bool is_flush = wio_fit_is_flush(method); /* of nothing: what it costs beside its bytes */
    if (largest == NULL || (size_of(largest) == 0 && !is_flush) ||
        size_of(largest) > WIO_FIT_ASSUMED_SIZE || size_of(largest) >= (double)bytes ||
        !isnan(wio_fit_cost(fit, fs, method, bytes, WIO_FIT_MID))) {
        return (double)NAN;
    }
    double one_s = cost_of(largest, WIO_FIT_MID);
    double more_s = ((double)bytes - size_of(largest)) / WIO_FIT_ASSUMED_BW;
    double many = size_of(largest) > 0 ? (double)bytes / size_of(largest) : INFINITY;
    return fmin(one_s + more_s, one_s * many);
}
