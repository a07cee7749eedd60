/* SPDX-License-Identifier: Apache-2.0 */
/* Which commands of fcntl and requests of ioctl are recorded as what. Pure, signal safe. */
#ifndef WIO_OPS_FILE_CONTROL_H
#define WIO_OPS_FILE_CONTROL_H

#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>

/* The argument is a struct flock. */
static inline bool wio_fcntl_is_lock(int command)
{
    return command == F_GETLK || command == F_SETLK || command == F_SETLKW ||
           command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

/* Requests that copy a file or ask for its space; terminals, sockets and devices are not I/O of
 * files. */
static inline bool wio_ioctl_is_of_file(unsigned long request)
{
    return request == FICLONE || request == FICLONERANGE || request == FIDEDUPERANGE ||
           request == FIONREAD || request == FIOCLEX || request == FIONCLEX;
}

#endif
