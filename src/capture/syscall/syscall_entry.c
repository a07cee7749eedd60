/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall() itself. On x86-64 it is assembler: no C frame may be around a clone whose child runs on
 * another stack, our wrappers must see the program's return address, and the calls that are not
 * recorded must cost nothing. Each way out is a jump.
 */
#include <linux/sched.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rawcall.h"
#include "capture/core/address.h"
#include "capture/core/capture.h"
#include "capture/process/fork.h"
#include "capture/syscall/syscall.h"

CAP_HIDDEN long cap_syscall_recorded(long number, long a, long b, long c, long d, long e, long f);
CAP_HIDDEN long cap_syscall_failed(long result);
CAP_HIDDEN bool cap_syscall_is_fork(long number, uint64_t first);

long cap_syscall_failed(long result)
{
    errno = (int)-result;
    return -1;
}

static uint64_t clone_flags(long number, uint64_t first)
{
    if (number == SYS_clone) {
        return first;
    }
    if (number == SYS_clone3) {
        const struct clone_args *args = (const struct clone_args *)(uintptr_t)first;
        return cap_is_mapped(first) ? args->flags : 0;
    }
#ifdef SYS_vfork
    if (number == SYS_vfork) {
        return CLONE_VM | CLONE_VFORK;
    }
#endif
    return 0;
}

/* Before a clone: true where the child gets its own memory, so that C may be around the call. */
bool cap_syscall_is_fork(long number, uint64_t first)
{
    uint64_t flags = clone_flags(number, first);
    if ((flags & CLONE_VM) == 0) {
        return true;
    }
    if (cap_self->is_ready) {
        cap_before_clone(cap_self, flags);
    }
    return false;
}

#if defined(__x86_64__)

_Static_assert(WIO_SYSCALL_NUMBERS == 512 && CAP_SYSCALL_CLONE == 199 && CAP_SYSCALL_TAILS == 200,
               "the numbers in the text below");

__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "    cmpq $512, %rdi\n"
        "    jae 1f\n"
        "    leaq cap_syscall_index(%rip), %rax\n"
        "    movzbl (%rax,%rdi), %eax\n"
        "    testl %eax, %eax\n"
        "    jz 1f\n"
        "    cmpl $199, %eax\n"
        "    jb cap_syscall_recorded\n"
        "    je 3f\n"
        /* one of our wrappers: its arguments begin one register earlier */
        "    leaq cap_syscall_tails(%rip), %r11\n"
        "    subl $200, %eax\n"
        "    movq (%r11,%rax,8), %r11\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %rcx\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    xorl %eax, %eax\n"
        "    jmp *%r11\n"
        /* not recorded: what libc's syscall() does */
        "1:  movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 2f\n"
        "    ret\n"
        "2:  movq %rax, %rdi\n"
        "    jmp cap_syscall_failed\n"
        /* a clone of some kind: ask, with the arguments kept */
        "3:  pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    call cap_syscall_is_fork\n"
        "    addq $8, %rsp\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -56\n"
        "    testb %al, %al\n"
        "    jnz cap_syscall_recorded\n"
        "    jmp 1b\n"
        ".cfi_endproc\n"
        ".size syscall, . - syscall\n");

#else

/* Elsewhere in C: the wrappers that a number stands for are not used, a clone that shares memory
 * is performed from here, as libc's own C syscall() does. */
CAP_EXPORT long syscall(long number, ...)
{
    long arg[6];
    va_list args;
    va_start(args, number);
    for (unsigned i = 0; i < 6; i++) {
        arg[i] = va_arg(args, long);
    }
    va_end(args);
    uint8_t place = number >= 0 && number < WIO_SYSCALL_NUMBERS ? cap_syscall_index[number] : 0;
    bool is_ruled = place != 0 && place < CAP_SYSCALL_CLONE;
    if (is_ruled || (place == CAP_SYSCALL_CLONE && cap_syscall_is_fork(number, (uint64_t)arg[0]))) {
        return cap_syscall_recorded(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    }
    long result = wio_rawcall6(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    return result < 0 && result > -4096 ? cap_syscall_failed(result) : result;
}

#endif
