/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of a store's transactions from a script (txn_script.h) on stdin.
 *
 *     txn_trace SEGMENT.seg <SCRIPT
 */
#include <stdio.h>

#include "support/unit.h"
#include "txn_script.h"

int main(int argc, char **argv)
{
    static char script[65536];
    if (argc != 2) {
        fprintf(stderr, "usage: txn_trace SEGMENT.seg <SCRIPT\n");
        return 2;
    }
    script[fread(script, 1, sizeof(script) - 1, stdin)] = '\0';
    txn_script_write(script, argv[1]);
    return 0;
}
