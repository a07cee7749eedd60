/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP as gcc compiles it: regions, loops, barriers, single, critical, reductions, nesting. */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 4
#define TIMES 50

static int fd;
static long sum;
static long once;
static long inner;

static void region(int time)
{
    long copied = 0;
#pragma omp parallel num_threads(THREADS) firstprivate(copied)
    {
#pragma omp for schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 100; i++) {
            sum += i;
        }
#pragma omp critical(name)
        (void)!write(fd, "c", 1);
#pragma omp barrier
#pragma omp single copyprivate(copied)
        {
            once++;
            copied = time;
            (void)!write(fd, "s", 1);
        }
#pragma omp atomic
        inner += copied == time;
#pragma omp sections
        {
#pragma omp section
            (void)!write(fd, "1", 1);
#pragma omp section
            (void)!write(fd, "2", 1);
        }
    }
}

static void nesting(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            inner++;
        }
    }
}

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    fd = open("openmp.dat", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (int time = 1; time <= TIMES; time++) {
        region(time);
#pragma omp parallel for num_threads(THREADS) schedule(static)
        for (int i = 0; i < THREADS; i++) {
            omp_set_lock(&lock);
            (void)!write(fd, "l", 1);
            omp_unset_lock(&lock);
        }
    }
    nesting();
    (void)printf("sum %ld, once %ld, inner %ld\n", sum, once, inner);
    return 0;
}
