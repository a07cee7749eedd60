/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/readahead.h"

#include "base/pick.h"

/* The longest request that is read at once for a read of at least its size: 1280 KiB. */
#define REQUEST_PAGES 320

/* For a first window: 4 times, twice or once what is wanted, in powers of 2. */
static uint64_t first_size(uint64_t wanted, uint64_t most)
{
    uint64_t size = wanted > 1 ? UINT64_C(1) << (64 - __builtin_clzll(wanted - 1)) : 1;
    if (size <= most / 32) {
        return size * 4;
    }
    return size <= most / 4 ? size * 2 : most;
}

static uint64_t next_size(uint64_t size, uint64_t most)
{
    if (size < most / 16) {
        return size * 4;
    }
    return size <= most / 2 ? size * 2 : most;
}

/* Windows are longer for a read that wants more at once. */
static uint64_t longest_for(uint64_t wanted, uint64_t most)
{
    uint64_t longest = wio_smaller(wanted, REQUEST_PAGES);
    return longest > most ? longest : most;
}

/* A window whose marker is its first page, which is being read, takes the next one along. */
static void take_next_along(struct wio_readahead *ahead, uint64_t most)
{
    uint64_t more = next_size(ahead->size, most);
    if (ahead->size + more <= most) {
        ahead->async = more;
        ahead->size += more;
    } else {
        ahead->size = most;
        ahead->async = most / 2;
    }
}

static bool is_sequential(const struct wio_readahead *ahead, uint64_t at)
{
    return at == 0 || (ahead->next > 0 && (at == ahead->next || at + 1 == ahead->next));
}

uint64_t wio_readahead_miss(struct wio_readahead *ahead, uint64_t at, uint64_t wanted,
                            uint64_t most)
{
    uint64_t longest = longest_for(wanted, most);
    if (most == 0) {
        return wanted;
    }
    if (at != 0 && ahead->size > 0 && at == ahead->start + ahead->size) {
        ahead->size = next_size(ahead->size, longest);
        ahead->async = ahead->size;
    } else if (wanted > most || is_sequential(ahead, at)) {
        ahead->size = first_size(wanted, longest);
        ahead->async = ahead->size > wanted ? ahead->size - wanted : ahead->size;
    } else {
        return wanted;
    }
    ahead->start = at;
    if (ahead->async == ahead->size) {
        take_next_along(ahead, longest);
    }
    return ahead->size;
}

uint64_t wio_readahead_marker(const struct wio_readahead *ahead)
{
    return ahead->async > 0 ? ahead->start + ahead->size - ahead->async : UINT64_MAX;
}

void wio_readahead_go_on(struct wio_readahead *ahead, uint64_t wanted, uint64_t most)
{
    ahead->start += ahead->size;
    ahead->size = next_size(ahead->size, longest_for(wanted, most));
    ahead->async = ahead->size;
}

bool wio_readahead_is_at(const struct wio_readahead *ahead, uint64_t at)
{
    bool is_inside = ahead->size > 0 && at >= ahead->start && at < ahead->start + ahead->size;
    return is_inside || (ahead->next > 0 && (at == ahead->next || at + 1 == ahead->next));
}
