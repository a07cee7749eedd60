/* SPDX-License-Identifier: Apache-2.0 */
#include "record/network.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

/* f_type of statfs(2): linux/magic.h, and for those outside the kernel their own headers. */
static const uint32_t network_types[] = {
    0x00006969, /* NFS */
    0x0000517b, /* SMB */
    0xff534d42, /* CIFS */
    0xfe534d42, /* SMB2 */
    0x0000564c, /* NCP */
    0x5346414f, /* AFS */
    0x73757245, /* Coda */
    0x01021997, /* 9P */
    0x65735546, /* FUSE */
    0x00c36400, /* Ceph */
    0x0bd00bd0, /* Lustre */
    0x47504653, /* GPFS */
    0x19830326, /* BeeGFS */
    0x20030528, /* OrangeFS */
    0xaad7aaea, /* PanFS */
    0x01161970, /* GFS2 */
    0x7461636f, /* OCFS2 */
    0x786f4256, /* VirtualBox shared folder */
};

bool wio_is_on_network(const char *path)
{
    struct statfs fs;
    if (statfs(path, &fs) != 0) {
        return false;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(network_types); i++) {
        if ((uint32_t)fs.f_type == network_types[i]) {
            return true;
        }
    }
    return false;
}
