/* SPDX-License-Identifier: Apache-2.0 */
/* For programs under valgrind 3.19, which has no pidfd_open(2): a descriptor that never tells an
 * end. Preloaded; for counting instructions only. */
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

long syscall(long number, ...);
long syscall(long number, ...)
{
    long arg[6];
    va_list args;
    va_start(args, number);
    for (unsigned i = 0; i < 6; i++) {
        arg[i] = va_arg(args, long);
    }
    va_end(args);
    if (number == SYS_pidfd_open) {
        return eventfd(0, EFD_CLOEXEC);
    }
    register long four __asm__("r10") = arg[3];
    register long five __asm__("r8") = arg[4];
    register long six __asm__("r9") = arg[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(four), "r"(five),
                       "r"(six)
                     : "rcx", "r11", "memory");
    return result < 0 ? -1 : result;
}
