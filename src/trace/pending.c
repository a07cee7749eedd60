/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/pending.h"

enum wio_status wio_pending_seal(const char *dir, int *fd_out, struct wio_error *err)
{
    (void)dir;
    (void)err;
    *fd_out = -1;
    return WIO_OK;
}
