/* SPDX-License-Identifier: Apache-2.0 */
/* Which code called the function that makes a system call. */
#ifndef WIO_TRACER_CALLER_H
#define WIO_TRACER_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#define TRACER_TEXTS 8
#define TRACER_SITES 256

/* Code of a process, and what is known of addresses in it. Zero-initialise. */
struct tracer_code {
    struct {
        uint64_t lo;
        uint64_t hi;
    } texts[TRACER_TEXTS];
    uint32_t count;
    uint64_t
        sites[TRACER_SITES]; /* by their hash: an address looked at, its top bit: behind a call */
};

struct tracer_thread;

/* The code mapped at [lo, hi) may be that of callers. */
void tracer_code_add(struct tracer_code *code, uint64_t lo, uint64_t hi);
/* Do 7 bytes of code end with a call instruction? Pure. */
bool tracer_code_is_call(const uint8_t bytes[7]);

/*
 * The return address of the function that the thread is in at the entry of its system call: the
 * first word from the stack pointer on that is an address of the program's code behind a call
 * instruction. The address of the system call where there is none, or the machine has its return
 * addresses elsewhere. The C library's wrappers of system calls have small frames, so that word is
 * hardly ever a stale one.
 */
uint64_t tracer_caller(struct tracer_thread *thread);

#endif
