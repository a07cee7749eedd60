/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that write in turn, and say nothing to each other that can be observed: whose turn it is
 * stands in a file.
 *
 *     flag map DIR RANKS ROUNDS    a word of it that all have mapped
 *     flag read DIR RANKS ROUNDS   the waiting side reads at the end of the file until something is
 * there
 *
 * It is no MPI program: any launcher tells it its rank.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, NAP_NS = 200000, COMPUTE_NS = 20000000, FLAG_BYTES = 8 };

static void pause_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static int rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (getenv(names[i]) != NULL) {
            return (int)strtol(getenv(names[i]), NULL, 10);
        }
    }
    return -1;
}

static int open_file(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

static void wait_mapped(_Atomic int *flag, int turn)
{
    while (atomic_load(flag) != turn) {
        pause_ns(NAP_NS);
    }
}

static void wait_reading(int log, int turn)
{
    char byte;
    while (turn > 0 && pread(log, &byte, 1, (off_t)turn * BLOCK - 1) != 1) {
        pause_ns(NAP_NS);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5 || rank() < 0) {
        fprintf(stderr, "usage: LAUNCHER flag map|read DIR RANKS ROUNDS\n");
        return 2;
    }
    int ranks = (int)strtol(argv[3], NULL, 10);
    int turns = ranks * (int)strtol(argv[4], NULL, 10);
    int log = open_file(argv[2], "log");
    int word = open_file(argv[2], "flag");
    if (ftruncate(word, FLAG_BYTES) != 0) {
        perror("ftruncate");
        return 1;
    }
    char block[BLOCK];
    memset(block, 'x', sizeof(block));
    _Atomic int *flag = mmap(NULL, FLAG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, word, 0);
    if (flag == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (int turn = rank(); turn < turns; turn += ranks) {
        if (strcmp(argv[1], "map") == 0) {
            wait_mapped(flag, turn);
        } else {
            wait_reading(log, turn);
        }
        pause_ns(COMPUTE_NS);
        if (pwrite(log, block, BLOCK, (off_t)turn * BLOCK) != BLOCK) {
            perror("pwrite");
            return 1;
        }
        atomic_fetch_add(flag, 1);
    }
    return 0;
}
