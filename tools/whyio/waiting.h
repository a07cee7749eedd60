/* SPDX-License-Identifier: Apache-2.0 */
/* A line on stderr when a store has not answered for two seconds: a wrong address is silent. */
#ifndef WHYIO_WAITING_H
#define WHYIO_WAITING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cmd_waiting {
    pthread_t thread; /* while it is_running */
    pthread_mutex_t lock;
    pthread_cond_t over;
    const char *address;
    uint64_t timeout_ns;
    bool is_running;
    bool is_over;
};

/* `address` (NULL: that of WHYIO_SERVER) is kept until the end; `timeout_ns` is when the caller
 * gives up, 0: the default of the library. Says nothing where it cannot start. */
void cmd_waiting_begin(struct cmd_waiting *waiting, const char *address, uint64_t timeout_ns);
/* May come again; one call at a time. */
void cmd_waiting_end(struct cmd_waiting *waiting);

#endif
