/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator as an object: made, freed, and what it tells of the hosts. */
#include "throttle/hosts/coordinator_internal.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum wio_status wio_director_create(struct wio_board *board, const struct wio_remote_where *where,
                                    struct wio_director **director_out, struct wio_error *err)
{
    *director_out = NULL;
    WIO_TRY(wio_remote_keys_begin(err));
    struct wio_director *director = calloc(1, sizeof(*director));
    *director_out = director;
    if (director == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    director->board = board;
    director->looks = calloc(WIO_BOARD_NODES, sizeof(*director->looks));
    director->told = calloc(WIO_BOARD_NODES, sizeof(*director->told));
    director->grants = calloc(WIO_BOARD_NODES, sizeof(*director->grants));
    if (director->looks == NULL || director->told == NULL || director->grants == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return wio_admission_create(where, &director->admission, err);
}

void wio_director_forget_peers(struct wio_director *director)
{
    for (uint32_t i = 0; i < director->peer_count; i++) {
        wio_remote_link_fini(&director->peers[i].link);
        free(director->peers[i].places);
    }
    free(director->peers);
    director->peers = NULL;
    director->peer_count = 0;
}

void wio_director_destroy(struct wio_director *director)
{
    if (director != NULL) {
        wio_director_forget_peers(director);
        wio_admission_destroy(director->admission);
        wio_blob_fini(&director->body);
        for (uint32_t i = 0; i < director->host_count; i++) {
            free(director->hosts[i]);
        }
        free(director->hosts);
        free(director->looks);
        free(director->told);
        free(director->grants);
        free(director);
    }
}

const char *wio_director_address(const struct wio_director *director)
{
    return director->address;
}

const struct wio_remote_listeners *wio_director_listeners(const struct wio_director *director)
{
    return wio_admission_listeners(director->admission);
}

uint64_t wio_director_refused(const struct wio_director *director)
{
    return wio_admission_refused(director->admission);
}

const char *wio_director_host(const struct wio_director *director, uint32_t host)
{
    return host > 0 && host <= director->host_count ? director->hosts[host - 1] : NULL;
}

const struct wio_director_look *wio_director_look(const struct wio_director *director,
                                                  uint32_t place)
{
    return &director->looks[place];
}

uint32_t wio_director_wave(const struct wio_director *director)
{
    return director->wave;
}
