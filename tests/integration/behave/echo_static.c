/* SPDX-License-Identifier: Apache-2.0 */
/* Linked statically: cannot be preloaded. */
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)puts(argc > 1 ? argv[1] : "");
    return 4;
}
