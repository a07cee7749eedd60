/* SPDX-License-Identifier: Apache-2.0 */
/* Options of commands that are clients of a store. */
#ifndef WHYIO_CONNECT_H
#define WHYIO_CONNECT_H

#include <argp.h>

#include <whyio/store.h>

/* Its parser's input: --server, --key, --timeout. */
extern const struct argp cmd_connect_argp;

struct cmd_connect {
    const char *server;
    const char *key_file;
    uint64_t timeout_ns;
    bool is_quiet; /* not a word while it lasts */
};

/* Says on stderr when it lasts longer than 2 s. */
WIO_MUST_CHECK enum wio_status cmd_connect(const struct cmd_connect *how,
                                           struct wio_store **store_out, struct wio_error *err);
void cmd_disconnect_cleanup(struct wio_store **store);

#endif
