/* SPDX-License-Identifier: Apache-2.0 */
/* How processes end: each case is a child, whose ring is compared too. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cover.h"

/* Fork behind capture's back: the child finds its memory wiped, which is a case of its own. */
static void in_child(const char *symbol, void (*end)(void), int status)
{
    long pid = wio_rawcall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (pid == 0) {
        end();
    }
    (void)wio_rawcall4(SYS_wait4, pid, 0, 0, 0);
    cover_last = (struct cover_last){.symbol = symbol};
    EXPECT("child=1 a0=%d a1=0", status);
}

static void by_exit(void)
{
    CALL(NOTHING, "exit", 3);
}

static void by_underscore(void)
{
    CALL(NOTHING, "_exit", 4);
}

static void by_capital(void)
{
    CALL(NOTHING, "_Exit", 5);
}

static void by_quick(void)
{
    CALL(NOTHING, "quick_exit", 6);
}

static void by_abort(void)
{
    CALL0(NOTHING, "abort");
}

static void ends(void)
{
    in_child("exit", by_exit, 3);
    in_child("_exit", by_underscore, 4);
    in_child("_Exit", by_capital, 5);
    in_child("quick_exit", by_quick, 6);
    in_child("abort", by_abort, SIGABRT);
}

/* The daemon's parent ends within the call: the daemon itself says when it is there. */
static void daemons(void)
{
    int ready[2] = {-1, -1};
    char byte;
    (void)wio_rawcall3(SYS_pipe2, P(ready), 0, 0);
    long pid = wio_rawcall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (pid == 0) {
        CALL(INT, "daemon", 1, 1);
        for (;;) {
            (void)wio_rawcall3(SYS_exit_group, 0, 0, 0);
        }
    }
    (void)wio_rawcall4(SYS_wait4, pid, 0, 0, 0);
    (void)wio_rawcall3(SYS_close, ready[1], 0, 0);
    (void)wio_rawcall3(SYS_read, ready[0], P(&byte), 1);
    cover_last = (struct cover_last){.symbol = "daemon"};
    EXPECT("child=1 a0=0 a1=0");
}

COVER_MAIN(ends, daemons)
