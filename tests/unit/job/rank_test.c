/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "job/rank.h"

static void check(const char *const *environ, int32_t rank, int32_t ranks)
{
    const struct wio_job_rank found = wio_job_rank_find(environ);
    assert_int_equal(found.rank, rank);
    assert_int_equal(found.ranks, ranks);
}

static void launchers(void **state)
{
    (void)state;
    check(NULL, -1, 0);
    check((const char *const[]){"PATH=/bin", "SLURM_PROCI=4", NULL}, -1, 0);
    check((const char *const[]){"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", NULL}, 2, 4);
    check((const char *const[]){"PMI_RANK=0", "PMI_SIZE=1", NULL}, 0, 1);
    check((const char *const[]){"SLURM_PROCID=0", "PMI_RANK=3", NULL}, 3, 0);
    check((const char *const[]){"SLURM_NTASKS=8", NULL}, -1, 0); /* a batch script */
}

static void what_is_no_number(void **state)
{
    (void)state;
    check((const char *const[]){"PMI_RANK=", "SLURM_PROCID=1", NULL}, 1, 0);
    check((const char *const[]){"PMI_RANK=-1", NULL}, -1, 0);
    check((const char *const[]){"PMI_RANK=3x", NULL}, -1, 0);
    check((const char *const[]){"PMI_RANK=2147483647", NULL}, INT32_MAX, 0);
    check((const char *const[]){"PMI_RANK=2147483648", NULL}, -1, 0);
    check((const char *const[]){"PMI_RANK=99999999999999999999999", NULL}, -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launchers),
                                       cmocka_unit_test(what_is_no_number)};
    return WIO_RUN(tests);
}
