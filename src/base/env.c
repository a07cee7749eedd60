/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"

#include <stdlib.h>

static const struct wio_env_var table[WIO_ENV_COUNT] = {
#define ENV_VAR(id, name, def, meaning) {name, def, meaning},
    WIO_ENV_LIST(ENV_VAR)
#undef ENV_VAR
};

const struct wio_env_var *wio_env_table(void)
{
    return table;
}

const char *wio_env_get(enum wio_env var)
{
    return secure_getenv(table[var].name);
}
