/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/whatif_world.h"

enum wio_status wio_whatif_later(struct wio_whatif_world *world, struct wio_whatif_runner *runner,
                                 enum wio_whatif_moment moment, uint64_t after_ns, uint32_t piece)
{
    return wio_whatif_schedule(
        &world->events, (struct wio_whatif_event){.ns = world->now_ns + after_ns,
                                                  .index = (uint32_t)(runner - world->runners),
                                                  .epoch = runner->epoch,
                                                  .piece = piece,
                                                  .moment = moment});
}

enum wio_status wio_whatif_at_server(struct wio_whatif_world *world, uint32_t server,
                                     enum wio_whatif_moment moment, uint64_t ns)
{
    return wio_whatif_schedule(
        &world->events, (struct wio_whatif_event){.ns = ns, .index = server, .moment = moment});
}

void wio_whatif_release(struct wio_whatif_world *world, struct wio_whatif_runner *runner)
{
    for (uint32_t i = 0; i < world->server_count; i++) {
        if (runner->owners[i] != NULL) {
            wio_locks_release(world->servers[i].locks, runner->owners[i]);
            runner->owners[i] = NULL;
            world->servers[i].is_stirred = true;
        }
    }
}

enum wio_status wio_whatif_end_attempt(struct wio_whatif_world *world,
                                       struct wio_whatif_runner *runner, bool is_wounded)
{
    if (runner->is_ending) {
        return WIO_OK;
    }
    runner->is_ending = true;
    runner->is_wounded = is_wounded;
    return wio_whatif_later(world, runner, WIO_WHATIF_ABORT, world->costs->abort_ns, 0);
}
