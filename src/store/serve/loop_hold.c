/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/loop_hold.h"

#include "store/net/net.h"

void loop_hold_init(struct loop_hold *hold)
{
    *hold = (struct loop_hold){.is_wanted = false};
    (void)pthread_mutex_init(&hold->mutex, NULL);
    (void)pthread_cond_init(&hold->changed, NULL);
}

void loop_hold_fini(struct loop_hold *hold)
{
    (void)pthread_cond_destroy(&hold->changed);
    (void)pthread_mutex_destroy(&hold->mutex);
}

void loop_hold_here(struct loop_hold *hold)
{
    (void)pthread_mutex_lock(&hold->mutex);
    while (hold->is_wanted) {
        hold->is_held = true;
        (void)pthread_cond_broadcast(&hold->changed);
        (void)pthread_cond_wait(&hold->changed, &hold->mutex);
    }
    if (hold->is_held) {
        hold->is_held = false;
        (void)pthread_cond_broadcast(&hold->changed);
    }
    (void)pthread_mutex_unlock(&hold->mutex);
}

void loop_hold_end(struct loop_hold *hold)
{
    (void)pthread_mutex_lock(&hold->mutex);
    hold->has_ended = true;
    (void)pthread_cond_broadcast(&hold->changed);
    (void)pthread_mutex_unlock(&hold->mutex);
}

bool loop_hold_begin(struct loop_hold *hold, struct wio_net *net)
{
    (void)pthread_mutex_lock(&hold->mutex);
    hold->is_wanted = true;
    wio_net_wake(net);
    while (!hold->is_held && !hold->has_ended) {
        (void)pthread_cond_wait(&hold->changed, &hold->mutex);
    }
    bool is_held = hold->is_held;
    (void)pthread_mutex_unlock(&hold->mutex);
    return is_held;
}

bool loop_hold_is_held(struct loop_hold *hold)
{
    (void)pthread_mutex_lock(&hold->mutex);
    bool is_held = hold->is_held;
    (void)pthread_mutex_unlock(&hold->mutex);
    return is_held;
}

void loop_hold_release(struct loop_hold *hold)
{
    (void)pthread_mutex_lock(&hold->mutex);
    hold->is_wanted = false;
    (void)pthread_cond_broadcast(&hold->changed);
    while (hold->is_held) {
        (void)pthread_cond_wait(&hold->changed, &hold->mutex);
    }
    (void)pthread_mutex_unlock(&hold->mutex);
}
