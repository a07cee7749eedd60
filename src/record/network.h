/* SPDX-License-Identifier: Apache-2.0 */
/* Telling network file systems from local ones. */
#ifndef WIO_RECORD_NETWORK_H
#define WIO_RECORD_NETWORK_H

#include <stdbool.h>

/* True where `path` is on a file system that other machines share (NFS, Lustre, FUSE ..): rings,
 * which are mapped shared and written all the time, do not belong there. False on failure. */
bool wio_is_on_network(const char *path);

#endif
