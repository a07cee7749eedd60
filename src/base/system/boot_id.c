/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/boot_id.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

void wio_boot_id(char id_out[WIO_BOOT_ID_ROOM])
{
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, id_out, WIO_BOOT_ID_ROOM - 1) : -1;
    id_out[got > 0 ? got : 0] = '\0';
    id_out[strcspn(id_out, "\n")] = '\0';
}
