/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of System V that do several operations at once: what one of them gives another one takes.
 */
#include "support/unit.h"

#include "try.h"

/* Adds two units and takes one of them, in one call: it does not wait. The other process takes
 * the second unit. */
static void a_call_takes_what_it_gives(void **state)
{
    (void)state;
    predict(TWO "semop stream=0 t=1000 dur=100 a0=-7 res=0\n"
                "semop_post stream=0 t=1000 dur=100 a0=-7 a1=1 res=0 caused\n"
                "pwrite stream=0 t=2000 dur=100 fd=3 path=/a off=0 size=50\n"
                "semop stream=1 t=500 dur=700 a0=-7 res=0\n"
                "pwrite stream=1 t=3000 dur=100 fd=3 path=/b off=0 size=20\n"
                "edge 0:0 1:0 class=queue evidence=thread object=1\n");
    assert_int_equal(try.result.untied, 0);
    assert_us(try.ends_s[0], 2 + 50);
    assert_us(try.ends_s[1], 2 + 50 + 20); /* naive: one after the other */
}

/* Of two semaphores the call takes one unit each; its own post is of the second one alone. */
static void only_the_same_semaphore_counts(void **state)
{
    (void)state;
    predict(TWO "semop stream=0 t=1000 dur=8000 a0=-7 res=0\n"
                "semop stream=0 t=1000 dur=8000 a0=-8 res=0 caused\n"
                "semop_post stream=0 t=1000 dur=8000 a0=-8 a1=1 res=0 caused\n"
                "pwrite stream=0 t=10000 dur=100 fd=3 path=/a off=0 size=50\n"
                "pwrite stream=1 t=2000 dur=100 fd=3 path=/b off=0 size=2000\n"
                "semop_post stream=1 t=8900 dur=50 a0=-7 res=0\n"
                "semop stream=1 t=8960 dur=100 a0=-8 res=0\n"
                "pwrite stream=1 t=9500 dur=100 fd=3 path=/b off=0 size=1\n"
                "edge 1:0 0:0 class=queue evidence=thread object=1\n"
                "edge 0:0 1:2 class=queue evidence=thread object=2\n");
    assert_int_equal(try.result.untied, 0);
    assert_us(try.ends_s[0], 2 + 2000);
    assert_true(try.ends_s[1] * 1e6 > 2 + 2000 + 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(a_call_takes_what_it_gives),
        TRY(only_the_same_semaphore_counts),
    };
    return WIO_RUN(tests);
}
