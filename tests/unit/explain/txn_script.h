/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of transactions from a few words, one row a line, times in ms:
 *
 *     0  begin   A1 app sim.c:10          client A, its transaction 1, first attempt (A1.2: second)
 *     1  arrive  A1 s0 w f1 0-100 by B1   waits at server 0 for bytes of file 1; blocker B1
 *     3  answer  A1 s0 w f1 0-100 lock=2  .. ok; or refused, no, busy; lock= storage= run= queue=
 * transfer= ms 4  wound   A1 s0 by B1 5  call    A1 s0 w f1 0-100 silent  the client's view: no
 * answer in time 6  release A1 s0 aborted            or committed 7  end     A1 aborted
 *
 * r and w: a shared and an exclusive lock. Origin and file of a blocker are those of its own rows,
 * its bytes those of its last row; `queued`, `prepared`, `dead` behind its name: the role.
 * `touched=N`: bytes that were moved (default: all of the range).
 */
#ifndef WIO_TESTS_TXN_SCRIPT_H
#define WIO_TESTS_TXN_SCRIPT_H

#include "explain/aborts/aborts.h"

/* The analysis of a script, finished. The caller: wio_aborts_fini. Fails the test on a word that it
 * does not know. */
void txn_script_run(const char *script, struct wio_aborts *aborts);
/* The same rows into a segment, with files /data/f1 .. and servers 0 to 3. */
void txn_script_write(const char *script, const char *segment);

#endif
