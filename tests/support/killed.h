/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call in a child that is killed at its n-th stop: before or after a system call. A loop over n
 * kills it at every step, on any machine alike:
 *
 *     for (unsigned n = 1; wio_test_killed_at(n, call, arg); n++) { .. what is there now? .. }
 */
#ifndef WIO_TESTS_KILLED_H
#define WIO_TESTS_KILLED_H

#include <stdbool.h>

/* True: it was killed; false: it has ended before that, with exit status 0 (else the test fails).
 * Skips the program where processes cannot be traced. */
bool wio_test_killed_at(unsigned n, void (*call)(void *arg), void *arg);

#endif
