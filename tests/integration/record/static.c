/* SPDX-License-Identifier: Apache-2.0 */
/* A program that no library can be loaded into. */
#include <stdio.h>

int main(void)
{
    puts("static");
    return 0;
}
