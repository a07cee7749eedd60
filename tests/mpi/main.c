/* SPDX-License-Identifier: Apache-2.0 */
/* main DIRECTORY CASE: calls MPI, writes what is to be seen to DIRECTORY/expected.RANK. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_case.h"

int rank;
char *program;
MPI_Comm world = MPI_COMM_WORLD;

static char expected[1 << 20];
static size_t used;

void expect(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(expected + used, sizeof(expected) - used - 1, format, arguments);
    va_end(arguments);
    expected[used++] = '\n';
}

void expect_times(int times, const char *line)
{
    for (int i = 0; i < times; i++) {
        expect("%s", line);
    }
}

void must(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"messages", messages},
    {"persistent", persistent},
    {"completion", completion},
    {"collectives", collectives},
    {"neighbors", neighbors},
    {"windows", windows},
    {"communicators", communicators},
    {"files", files},
    {"faults", faults},
    {"dynamic", dynamic},
    {"threads", many_threads},
};

static void write_expected(const char *directory)
{
    char name[4096];
    snprintf(name, sizeof(name), "%s/expected.%d", directory, rank);
    FILE *file = fopen(name, "w");
    must(file != NULL && fwrite(expected, 1, used, file) == used && fclose(file) == 0, "expected");
}

int main(int argc, char **argv)
{
    int ranks = 0;
    int given = 0;
    if (argc != 3) {
        return 2;
    }
    program = argv[0];
    if (strcmp(argv[2], "messages") == 0) { /* both ways to begin */
        MPI(Init)(&argc, &argv);
        expect("MPI_Init comm=world 1=0 2=-1 3=0");
    } else {
        bool is_threads = strcmp(argv[2], "threads") == 0;
        int wanted = is_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
        MPI(Init_thread)(&argc, &argv, wanted, &given);
        if (given < wanted) {
            fprintf(stderr, "the library does not have threads\n");
            MPI(Finalize)();
            return 77;
        }
        expect("MPI_Init_thread comm=world 1=0 2=-1 3=0");
    }
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        spawned(parent);
        return MPI(Finalize)();
    }
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    must(ranks == RANKS, "four ranks are wanted");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, argv[2]) == 0) {
            cases[i].run();
        }
    }
    expect("MPI_Finalize comm=world 2=-1");
    write_expected(argv[1]);
    printf("rank %d is done\n", rank);
    fflush(stdout);
    return MPI(Finalize)();
}
