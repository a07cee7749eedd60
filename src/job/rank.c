/* SPDX-License-Identifier: Apache-2.0 */
#include "job/rank.h"

#include <stddef.h>

#include "job/job.h"

/* -1 where the text is no whole number. */
static int32_t number_of(const char *text)
{
    int64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= INT32_MAX; at++) {
        value = value * 10 + (*at - '0');
    }
    return at != text && *at == '\0' && value <= INT32_MAX ? (int32_t)value : -1;
}

static int32_t first_number(const char *const *environ, const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *text = wio_job_value(environ, *names);
        const int32_t value = text != NULL ? number_of(text) : -1;
        if (value >= 0) {
            return value;
        }
    }
    return -1;
}

/* SLURM_PROCID last, since it is 0 in every rank under mpirun within a batch job. */
struct wio_job_rank wio_job_rank_find(const char *const *environ)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
    struct wio_job_rank found = {.rank = first_number(environ, ranks)};
    const int32_t size = found.rank >= 0 ? first_number(environ, sizes) : 0;
    found.ranks = size > 0 ? size : 0;
    return found;
}
