/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/compare/phases.h"

#include <stdbool.h>

struct sequence {
    const struct wio_phase *phases;
    uint32_t count;
};

/* 0 = they cannot be the same phase. */
static uint32_t likeness(const struct wio_phase *a, const struct wio_phase *b)
{
    if (wio_phase_kind(a) != wio_phase_kind(b)) {
        return 0;
    }
    return a->file == b->file ? 3 : 2;
}

/* score[i][j]: the best that the first i of a and the first j of b can reach together. */
typedef uint16_t score_table[WIO_PHASES_MAX + 1][WIO_PHASES_MAX + 1];

static void fill_scores(struct sequence a, struct sequence b, score_table score)
{
    for (uint32_t i = 0; i <= a.count; i++) {
        for (uint32_t j = 0; j <= b.count; j++) {
            uint16_t best = 0;
            if (i > 0 && j > 0) {
                uint32_t like = likeness(&a.phases[i - 1], &b.phases[j - 1]);
                uint16_t skip_a = score[i - 1][j];
                uint16_t skip_b = score[i][j - 1];
                best = skip_a > skip_b ? skip_a : skip_b;
                if (like > 0 && score[i - 1][j - 1] + like > best) {
                    best = (uint16_t)(score[i - 1][j - 1] + like);
                }
            }
            score[i][j] = best;
        }
    }
}

static uint32_t align(struct sequence a, struct sequence b, struct wio_phase_pair *pairs)
{
    score_table score;
    uint32_t count = 0;
    uint32_t i = a.count;
    uint32_t j = b.count;

    fill_scores(a, b, score);
    while (i > 0 || j > 0) {
        uint32_t like = i > 0 && j > 0 ? likeness(&a.phases[i - 1], &b.phases[j - 1]) : 0;
        bool is_match = like > 0 && score[i][j] == score[i - 1][j - 1] + like;
        bool takes_a = is_match || (i > 0 && (j == 0 || score[i - 1][j] >= score[i][j - 1]));
        bool takes_b = is_match || !takes_a;
        pairs[count++] =
            (struct wio_phase_pair){takes_a ? (int32_t)i - 1 : -1, takes_b ? (int32_t)j - 1 : -1};
        i -= takes_a;
        j -= takes_b;
    }
    for (uint32_t k = 0; k < count / 2; k++) {
        struct wio_phase_pair swap = pairs[k];
        pairs[k] = pairs[count - 1 - k];
        pairs[count - 1 - k] = swap;
    }
    return count;
}

void wio_phases_add(struct wio_phases *phases, const struct wio_segmenter *rank)
{
    struct wio_phase_pair pairs[2 * WIO_PHASES_MAX];
    struct wio_phases old = *phases;
    uint32_t pair_count;
    uint32_t alone = 0;

    pair_count = align((struct sequence){old.phases, old.count},
                       (struct sequence){rank->phases, rank->count}, pairs);
    phases->count = 0;
    for (uint32_t k = 0; k < pair_count; k++) {
        struct wio_phase *place;
        alone += pairs[k].a < 0;
        if (pairs[k].a < 0 && old.count + alone > WIO_PHASES_MAX) {
            /* ranks that have nothing in common: no room for more kinds of phases */
            place = phases->count > 0 ? &phases->phases[phases->count - 1] : &old.phases[0];
            wio_phase_merge(place, &rank->phases[pairs[k].b]);
            continue;
        }
        place = &phases->phases[phases->count++];
        *place = pairs[k].a >= 0 ? old.phases[pairs[k].a] : rank->phases[pairs[k].b];
        if (pairs[k].a >= 0 && pairs[k].b >= 0) {
            wio_phase_merge(place, &rank->phases[pairs[k].b]);
            place->ranks++;
        }
    }
}

uint32_t wio_phases_align(const struct wio_phases *a, const struct wio_phases *b,
                          struct wio_phase_pair *pairs_out)
{
    return align((struct sequence){a->phases, a->count}, (struct sequence){b->phases, b->count},
                 pairs_out);
}
