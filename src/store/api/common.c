/* SPDX-License-Identifier: Apache-2.0 */
/* What all calls have in common. */
#include <stdio.h>
#include <string.h>

#include <errno.h>

#include "base/clock.h"
#include "store/api/api_internal.h"

#define TIMEOUT_MIN_NS UINT64_C(1000000)

enum wio_status api_nomem(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

uint64_t api_deadline_ns(const struct wio_store *store, uint64_t timeout_ns)
{
    uint64_t now_ns = wio_clock_mono_ns();
    uint64_t after_ns = timeout_ns > 0 ? timeout_ns : store->timeout_ns;
    after_ns = after_ns > TIMEOUT_MIN_NS ? after_ns : TIMEOUT_MIN_NS;
    return after_ns < INT64_MAX - now_ns ? now_ns + after_ns : INT64_MAX;
}

void api_explain_timeout(struct wio_store *store, struct wio_error *err)
{
    (void)pthread_mutex_lock(&store->mutex);
    if (store->is_catalogue_lost) {
        wio_error_add(err, "the catalogue at %s is not connected: %s", store->address,
                      store->catalogue_failure != NULL ? store->catalogue_failure
                                                       : wio_link_end_text(store->catalogue_why));
    }
    for (uint16_t i = 0; i < store->targets; i++) {
        if (store->is_lost[i]) {
            wio_error_add(err, "target %u at %s is not connected: %s", i, store->addresses[i],
                          wio_link_end_text(store->why[i]));
            break;
        }
    }
    (void)pthread_mutex_unlock(&store->mutex);
}

enum wio_status api_about(enum wio_status status, const char *path, struct wio_error *err)
{
    if (status != WIO_OK && err != NULL && err->file[0] == '\0') {
        (void)snprintf(err->file, sizeof(err->file), "%s", path);
    }
    return status;
}

void api_overload_fail(struct api_call *call, enum wio_admit_reason reason)
{
    api_call_fail(call, WIO_ERR_BUSY, EBUSY, "the server is overloaded and has refused it: %s",
                  wio_admit_reason_text(reason));
}
