/* SPDX-License-Identifier: Apache-2.0 */
#include "connect.h"

#include "base/text.h"
#include "options.h"
#include "waiting.h"

enum { OPTION_SERVER = 0x300, OPTION_KEY, OPTION_TIMEOUT };

static const struct argp_option options[] = {
    {"server", OPTION_SERVER, "ADDR", 0,
     "Address of the store: unix:PATH, HOST:PORT, [V6]:PORT or @FILE (default: WHYIO_SERVER)", 0},
    {"key", OPTION_KEY, "FILE", 0, "File with the store's key (default: WHYIO_STORE_KEY)", 0},
    {"timeout", OPTION_TIMEOUT, "TIME", 0, "Give up an operation after so long (default: 30s)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cmd_connect *how = state->input;
    switch (key) {
    case OPTION_SERVER:
        how->server = arg;
        return 0;
    case OPTION_KEY:
        how->key_file = arg;
        return 0;
    case OPTION_TIMEOUT:
        if (wio_parse_time(arg, &how->timeout_ns) != WIO_OK || how->timeout_ns == 0) {
            argp_error(state, "--timeout: '%s' is no time: expected a number with ms, s or m", arg);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cmd_connect_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

enum wio_status cmd_connect(const struct cmd_connect *how, struct wio_store **store_out,
                            struct wio_error *err)
{
    const struct wio_store_params params = {.struct_size = sizeof(params),
                                            .address = how->server,
                                            .key_file = how->key_file,
                                            .timeout_ns = how->timeout_ns};
    struct cmd_waiting waiting = {0};
    if (!how->is_quiet) {
        cmd_waiting_begin(&waiting, how->server, how->timeout_ns);
    }
    enum wio_status status = wio_store_connect(&params, store_out, err);
    cmd_waiting_end(&waiting);
    return status;
}

void cmd_disconnect_cleanup(struct wio_store **store)
{
    wio_store_disconnect(*store);
}
