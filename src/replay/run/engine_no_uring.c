/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/engine.h"

#include <stddef.h>

const struct rp_engine *rp_engine_uring(void)
{
    return NULL;
}
