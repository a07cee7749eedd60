/* SPDX-License-Identifier: Apache-2.0 */
/* Performing a system call by its rule. */
#include "base/rawcall.h"
#include "capture/syscall/syscall.h"

#define RESULT_ERRORS 4095u

long cap_raw_perform(const struct cap_raw_call *call)
{
    const long *arg = call->arg;
    long result = wio_rawcall6(call->rule->number, arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
    if ((unsigned long)result >= -(unsigned long)RESULT_ERRORS) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
