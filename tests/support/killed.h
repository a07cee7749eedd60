/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call in a child that is killed between its n-th system call and the next one. A loop over n
 * kills it at every step, on any machine alike:
 *
 *     for (unsigned n = 1; wio_test_killed_at(n, call, arg); n += WIO_TEST_KILL_STEP) {
 *         .. what is there now? ..
 *     }
 *
 * The time grows with the square of the number of calls, and a process under a sanitizer takes ten
 * times as long to fork and to stop: there, it is killed at some of the steps only.
 */
#ifndef WIO_TESTS_KILLED_H
#define WIO_TESTS_KILLED_H

#include <stdbool.h>

#include "support/unit.h"

#define WIO_TEST_KILL_STEP (WIO_TEST_SLOWER == 1 ? 1u : 11u)

/* True: it was killed; false: it has ended before that, with exit status 0 (else the test fails).
 * Skips the program where processes cannot be traced. */
bool wio_test_killed_at(unsigned n, void (*call)(void *arg), void *arg);

#endif
