/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fortran's names of MPI. They need no wrappers: what they call in the library is MPI_x or PMPI_x,
 * which are wrapped. But the call's source is then a place in the library. So each is a trampoline:
 * it notes its caller, and jumps on with all arguments, however many and whatever they are.
 */
#ifndef WIO_CAPTURE_MPI_MPI_DOORS_H
#define WIO_CAPTURE_MPI_MPI_DOORS_H

#include "capture/mpi/mpi.h"

/* From where this thread's last call of a Fortran name came. */
extern __thread uintptr_t cap_mpi_door __attribute__((tls_model("initial-exec"))) CAP_HIDDEN;

/* Note the caller; where the door leads. */
cap_function *cap_mpi_pass(unsigned door, uintptr_t caller) CAP_HIDDEN;

#if defined(__x86_64__)

/* The six registers of arguments; those on the stack stay where they are. */
#define CAP_MPI_PASSAGE                                                                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".type cap_mpi_passage, @function\n"                                                   \
            "cap_mpi_passage:\n"                                                                   \
            ".cfi_startproc\n"                                                                     \
            "push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n"                \
            "sub $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset 56\n"                                                          \
            "mov %eax, %edi\n"                                                                     \
            "mov 56(%rsp), %rsi\n"                                                                 \
            "call cap_mpi_pass\n"                                                                  \
            "add $8, %rsp\n"                                                                       \
            "pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"                      \
            ".cfi_adjust_cfa_offset -56\n"                                                         \
            "jmp *%rax\n"                                                                          \
            ".cfi_endproc\n"                                                                       \
            ".size cap_mpi_passage, . - cap_mpi_passage\n"                                         \
            ".popsection\n");

#define CAP_MPI_DOOR(name, number)                                                                 \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "mov $" #number ", %eax\n"                                                             \
            "jmp cap_mpi_passage\n"                                                                \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n");

#else

#define CAP_MPI_PASSAGE

/* Fortran passes addresses, and lengths behind them: words, all of them. These are more than any
 * function of MPI has; reading beyond those that are there reads the caller's frame, and passes
 * that on. */
typedef void cap_mpi_fortran(cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word,
                             cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word,
                             cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word, cap_mpi_word,
                             cap_mpi_word);

#define CAP_MPI_DOOR(name, number)                                                                 \
    CAP_EXPORT cap_mpi_fortran name;                                                               \
    CAP_EXPORT void name(cap_mpi_word a, cap_mpi_word b, cap_mpi_word c, cap_mpi_word d,           \
                         cap_mpi_word e, cap_mpi_word f, cap_mpi_word g, cap_mpi_word h,           \
                         cap_mpi_word i, cap_mpi_word j, cap_mpi_word k, cap_mpi_word l,           \
                         cap_mpi_word n, cap_mpi_word o, cap_mpi_word p, cap_mpi_word q)           \
    {                                                                                              \
        ((cap_mpi_fortran *)cap_mpi_pass(number, CAP_CALLER()))(a, b, c, d, e, f, g, h, i, j, k,   \
                                                                l, n, o, p, q);                    \
    }

#endif

#endif
