/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/targets.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/link/address.h"
#include "store/session/intake.h"
#include "store/wire/message.h"

#define PAUSE_MIN_NS UINT64_C(1000000)
#define PAUSE_MAX_NS UINT64_C(500000000)

struct one {
    struct wio_targets *targets;
    struct wio_link *link; /* NULL: none */
    struct wio_io_timer *timer;
    uint64_t pause_ns; /* before the next try */
    uint16_t index;
    bool is_open;
    bool was_open;
    struct wio_wire_welcome welcome;
    char address[WIO_LINK_ADDRESS_BYTES];
};

struct wio_targets {
    struct wio_io *io;
    const struct wio_link_config *config;
    const struct wio_targets_events *events;
    void *context;
    struct wio_wire_hello hello;
    struct wio_blob out;
    uint16_t count;
    struct one ones[];
};

/* ---- events of links ----------------------------------------------------------------------- */

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    struct one *one = context;
    (void)link;
    one->welcome = *welcome;
    one->is_open = true;
    one->was_open = true;
    one->pause_ns = PAUSE_MIN_NS;
    one->targets->events->back(one->targets->context, one->index, welcome->is_known != 0);
}

static bool take_reply(const struct one *one, const struct wio_wire_header *header,
                       struct wio_buf body)
{
    const struct wio_targets *targets = one->targets;
    struct wio_store_reply reply;
    if (wio_wire_get_reply(header, body, &reply) != WIO_OK ||
        (reply.has_told && wio_intake_features(one->link) == 0)) { /* R-ADMIT-1 */
        return false;
    }
    bool has_lease = reply.result != WIO_STORE_NO_LEASE; /* without, it connects anew */
    targets->events->reply(targets->context, one->index, &reply);
    return has_lease;
}

static bool take_push(const struct one *one, const struct wio_wire_header *header,
                      struct wio_buf body)
{
    const struct wio_targets *targets = one->targets;
    struct wio_store_push push;
    bool has_windows = wio_intake_features(one->link) != 0; /* R-ADMIT-1 */
    if (wio_wire_get_push(header, body, &push) != WIO_OK ||
        (push.op == WIO_STORE_WINDOW && !has_windows)) {
        return false;
    }
    targets->events->push(targets->context, one->index, &push);
    return true;
}

static bool take_job(const struct one *one, const struct wio_wire_header *header,
                     struct wio_buf body)
{
    const struct wio_targets *targets = one->targets;
    struct wio_wire_job job;
    if (wio_wire_get_job(header, body, &job) != WIO_OK) {
        return false;
    }
    if (targets->events->job != NULL) {
        targets->events->job(targets->context, one->index, &job);
    }
    return true;
}

static bool take_source(const struct one *one, const struct wio_wire_header *header,
                        struct wio_buf body)
{
    const struct wio_targets *targets = one->targets;
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request define;
    if (wio_wire_get_request(header, body, participants, &define) != WIO_OK) {
        return false;
    }
    if (targets->events->source != NULL) {
        targets->events->source(targets->context, one->index, &define);
    }
    return true;
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    const struct one *one = context;
    bool is_taken = false;
    if ((header->flags & WIO_WIRE_REPLY) != 0) {
        is_taken = take_reply(one, header, body);
    } else if (header->kind == WIO_STORE_WOUND || header->kind == WIO_STORE_WINDOW) {
        is_taken = take_push(one, header, body);
    } else if (header->kind == WIO_WIRE_DEFINE_JOB) {
        is_taken = take_job(one, header, body);
    } else if (header->kind == WIO_STORE_DEFINE_SOURCE) {
        is_taken = take_source(one, header, body);
    }
    if (!is_taken) {
        wio_link_reject(link);
    }
}

/* Again, after twice the pause of the last time. */
static void try_later(struct one *one)
{
    one->targets->io->ops->timer_set(one->timer, one->pause_ns);
    one->pause_ns = one->pause_ns * 2 < PAUSE_MAX_NS ? one->pause_ns * 2 : PAUSE_MAX_NS;
}

static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct one *one = context;
    const struct wio_targets *targets = one->targets;
    one->link = NULL;
    one->is_open = false;
    wio_link_close(link);
    try_later(one);
    if (targets->events->lost != NULL) {
        targets->events->lost(targets->context, one->index, why);
    }
}

static const struct wio_link_events link_events = {
    .opened = opened, .message = message, .closed = closed};

static enum wio_status connect_to(struct one *one, struct wio_error *err)
{
    struct wio_targets *targets = one->targets;
    struct wio_io *io = targets->io;
    targets->hello.unix_ns = io->ops->unix_ns(io);
    targets->hello.mono_ns = io->ops->now_ns(io);
    enum wio_status status = wio_link_connect(io, one->address, targets->config, &targets->hello,
                                              &link_events, one, &one->link, err);
    if (status != WIO_OK) {
        one->link = NULL;
    }
    return status;
}

static void fire(void *context)
{
    struct one *one = context;
    if (connect_to(one, NULL) != WIO_OK) {
        try_later(one);
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

void wio_targets_destroy(struct wio_targets *targets)
{
    if (targets == NULL) {
        return;
    }
    for (uint16_t i = 0; i < targets->count; i++) {
        wio_link_close(targets->ones[i].link);
        targets->io->ops->timer_destroy(targets->ones[i].timer);
    }
    wio_blob_fini(&targets->out);
    free(targets);
}

static void destroy(struct wio_targets **targets)
{
    wio_targets_destroy(*targets);
}

static enum wio_status begin(struct wio_targets *targets, uint16_t index, const char *address,
                             struct wio_error *err)
{
    struct one *one = &targets->ones[index];
    one->targets = targets;
    one->index = index;
    one->pause_ns = PAUSE_MIN_NS;
    one->timer = targets->io->ops->timer_create(targets->io, fire, one);
    snprintf(one->address, sizeof(one->address), "%s", address);
    if (one->timer == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return connect_to(one, err);
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
enum wio_status wio_targets_create(struct wio_io *io, const struct wio_link_config *config,
                                   const struct wio_wire_hello *hello, const char *const *addresses,
                                   uint16_t count, const struct wio_targets_events *events,
                                   void *context, struct wio_targets **targets_out,
                                   struct wio_error *err)
{
    WIO_CLEANUP(destroy)
    struct wio_targets *targets = calloc(1, sizeof(*targets) + count * sizeof(targets->ones[0]));
    if (targets == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    targets->io = io;
    targets->config = config;
    targets->events = events;
    targets->context = context;
    targets->hello = *hello;
    targets->count = count;
    for (uint16_t i = 0; i < count; i++) {
        WIO_TRY(begin(targets, i, addresses[i], err));
    }
    *targets_out = targets;
    targets = NULL;
    return WIO_OK;
}

/* ---- requests ------------------------------------------------------------------------------ */

bool wio_targets_is_open(const struct wio_targets *targets, uint16_t target)
{
    return target < targets->count && targets->ones[target].is_open;
}

bool wio_targets_knows(const struct wio_targets *targets, uint16_t target, unsigned of_class,
                       uint32_t features)
{
    return wio_targets_is_open(targets, target) &&
           (wio_link_features(targets->ones[target].link)->bits[of_class] & features) == features;
}

const struct wio_wire_welcome *wio_targets_welcome(const struct wio_targets *targets,
                                                   uint16_t target)
{
    return target < targets->count && targets->ones[target].was_open
               ? &targets->ones[target].welcome
               : NULL;
}

uint32_t wio_targets_features(const struct wio_targets *targets, uint16_t target)
{
    return wio_targets_is_open(targets, target) ? wio_intake_features(targets->ones[target].link)
                                                : 0;
}

bool wio_targets_send(struct wio_targets *targets, uint16_t target,
                      const struct wio_store_request *request)
{
    uint32_t data_bytes = 0;
    if (!wio_targets_is_open(targets, target)) {
        return false;
    }
    wio_blob_clear(&targets->out);
    return wio_wire_put_request(&targets->out, request, &data_bytes) == WIO_OK &&
           wio_link_send(targets->ones[target].link, &targets->out, request->data, data_bytes) ==
               WIO_OK;
}
