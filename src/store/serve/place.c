/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/place.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/serve/serve.h"

enum { PORT_MAX = 65535, NAMES_TRIED = 1000 };

enum wio_status serve_place_open(const char *path, char *real_out, size_t size,
                                 struct wio_error *err)
{
    char real[PATH_MAX];
    WIO_TRY(wio_io_mkdirs(path, err));
    if (realpath(path, real) == NULL) {
        return wio_error_sys(err, path, "cannot find the directory");
    }
    if (snprintf(real_out, size, "%s", real) >= (int)size) {
        errno = ENAMETOOLONG;
        return wio_error_sys(err, path, "cannot use the directory");
    }
    return WIO_OK;
}

bool serve_place_is_durable(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) != 0 || (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC);
}

enum wio_status serve_target_address(const char *address, unsigned target,
                                     char text_out[WIO_LINK_ADDRESS_BYTES], struct wio_error *err)
{
    struct wio_link_address parsed;
    WIO_TRY(wio_link_address_parse(address, &parsed, err));
    if (parsed.is_unix) {
        (void)snprintf(text_out, WIO_LINK_ADDRESS_BYTES, "unix:%s.%u", parsed.path, target);
        return wio_link_address_parse(text_out, &parsed, err); /* short enough */
    }
    unsigned port = parsed.port == 0 ? 0 : parsed.port + 1 + target;
    if (port > PORT_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%.300s': target %u would be at port %u, the last one is %d", address,
                             target, port, PORT_MAX);
    }
    bool is_v6 = strchr(parsed.host, ':') != NULL;
    (void)snprintf(text_out, WIO_LINK_ADDRESS_BYTES, "%s%s%s:%u", is_v6 ? "[" : "", parsed.host,
                   is_v6 ? "]" : "", port);
    return WIO_OK;
}

enum wio_status wio_serve_check_target(const char *address, struct wio_error *err)
{
    struct wio_link_address parsed;
    WIO_TRY(wio_link_address_parse(address, &parsed, err));
    return parsed.is_unix || parsed.port != 0
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                               "--targets: '%.300s': expected a port other than 0, since others "
                               "have to know it",
                               address);
}

enum wio_status wio_serve_make_root(const char *parent, const char *name, char *path_out,
                                    size_t size, struct wio_error *err)
{
    for (unsigned i = 1; i <= NAMES_TRIED; i++) {
        int bytes = i == 1 ? snprintf(path_out, size, "%s/whyio-%s", parent, name)
                           : snprintf(path_out, size, "%s/whyio-%s-%u", parent, name, i);
        if (bytes >= (int)size) {
            errno = ENAMETOOLONG;
            break;
        }
        if (mkdir(path_out, S_IRWXU) == 0) {
            return WIO_OK;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return wio_error_sys(err, parent, "cannot make a directory for the store");
}
