/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire/results.h"

#include <errno.h>

#include "base/cleanup.h"

static const struct {
    int sys_errno;
    const char *text;
} results[] = {
    [WIO_STORE_OK] = {0, "done"},
    [WIO_STORE_REFUSED] = {EAGAIN, "other transactions are in the way"},
    [WIO_STORE_ABORTED] = {ECANCELED, "the transaction was aborted"},
    [WIO_STORE_BUSY] = {EAGAIN, "the server is full or overloaded"},
    [WIO_STORE_NO] = {ECANCELED, "a server voted against the transaction"},
    [WIO_STORE_BAD] = {EPROTO, "the server does not understand the request"},
    [WIO_STORE_DENIED] = {EACCES, "permission denied"},
    [WIO_STORE_NO_ENTRY] = {ENOENT, "no such file or directory"},
    [WIO_STORE_EXISTS] = {EEXIST, "file exists"},
    [WIO_STORE_NOT_DIR] = {ENOTDIR, "not a directory"},
    [WIO_STORE_IS_DIR] = {EISDIR, "is a directory"},
    [WIO_STORE_NOT_EMPTY] = {ENOTEMPTY, "directory not empty"},
    [WIO_STORE_LOOP] = {ELOOP, "too many symbolic links"},
    [WIO_STORE_NAME_LONG] = {ENAMETOOLONG, "name too long"},
    [WIO_STORE_NO_SPACE] = {ENOSPC, "the store is full"},
    [WIO_STORE_IO] = {EIO, "the storage failed"},
    [WIO_STORE_STALE] = {ESTALE, "the file was removed"},
    [WIO_STORE_TOO_BIG] = {EFBIG, "more than a file or a transaction may hold"},
    [WIO_STORE_NO_LEASE] = {ENOTCONN, "the lease has ended: the outcome is not known"},
    [WIO_STORE_NOT_OWNER] = {EPERM, "not the owner's"},
    [WIO_STORE_INVALID] = {EINVAL, "not with this file or these names"},
    [WIO_STORE_IN_USE] = {EBUSY, "in use"},
    [WIO_STORE_OVERLOADED] = {EBUSY, "the server is overloaded and has refused it"},
};

int wio_store_result_errno(enum wio_store_result result)
{
    return (unsigned)result < WIO_ARRAY_SIZE(results) ? results[result].sys_errno : EPROTO;
}

enum wio_store_result wio_store_result_of(int sys_errno)
{
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(results); i++) {
        if (results[i].sys_errno == sys_errno) {
            return (enum wio_store_result)i;
        }
    }
    return WIO_STORE_IO;
}

const char *wio_store_result_text(enum wio_store_result result)
{
    return (unsigned)result < WIO_ARRAY_SIZE(results) ? results[result].text : "no known result";
}
