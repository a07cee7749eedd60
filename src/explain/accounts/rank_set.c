/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/rank_set.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

#define MOST_RANK (1 << 22)

enum wio_status wio_rank_set_add(struct wio_rank_set *set, int32_t rank)
{
    uint32_t word = (uint32_t)rank / 64;
    void *array = set->words;

    if (rank < 0 || rank > MOST_RANK || wio_rank_set_has(set, rank)) {
        return WIO_OK;
    }
    WIO_TRY(wio_grow(&array, sizeof(*set->words), &set->word_count, word + 1));
    set->words = array;
    set->words[word] |= 1ull << ((uint32_t)rank % 64);
    set->count++;
    return WIO_OK;
}

bool wio_rank_set_has(const struct wio_rank_set *set, int32_t rank)
{
    uint32_t word = (uint32_t)rank / 64;

    return rank >= 0 && word < set->word_count &&
           (set->words[word] >> ((uint32_t)rank % 64) & 1) != 0;
}

int32_t wio_rank_set_next(const struct wio_rank_set *set, int32_t rank)
{
    for (int32_t i = rank < 0 ? 0 : rank; i < (int32_t)set->word_count * 64; i++) {
        if (wio_rank_set_has(set, i)) {
            return i;
        }
    }
    return -1;
}

void wio_rank_set_fini(struct wio_rank_set *set)
{
    free(set->words);
}
