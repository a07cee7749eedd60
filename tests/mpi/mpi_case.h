/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs that call all of MPI have in common. Each call is written MPI(Send)(...): the
 * name becomes MPI_Send, PMPI_Send (built with -DPROFILING) or, where there is one, MPI_Send_c
 * (-DLARGE). Before the call, expect() says which events it must make:
 *
 *     expect("MPI_Send comm=world 1=%d 2=7 size=8", next);
 *     MPI(Send)(block, 1, MPI_DOUBLE, next, 7, world);
 *
 * comm=NAME is a communicator, window or file: the name must stand for one id in all ranks. 1, 2, 3
 * are the arguments, key=NAME the third where it is a request. What stands there is all that is
 * compared. Without capture the expectations are written all the same.
 */
#ifndef TESTS_MPI_CASE_H
#define TESTS_MPI_CASE_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdbool.h>

#ifdef PROFILING
#define MPI(name) PMPI_##name
#define MPIX(name) PMPIX_##name
#else
#define MPI(name) MPI_##name
#define MPIX(name) MPIX_##name
#endif

/* Functions with counts, and the type of those. */
#ifdef LARGE
#ifdef PROFILING
#define BIG(name) PMPI_##name##_c
#else
#define BIG(name) MPI_##name##_c
#endif
typedef MPI_Count count_type;
typedef MPI_Aint displ_type;
#else
#define BIG(name) MPI(name)
typedef int count_type;
typedef int displ_type;
#endif

/* MPI-4 in MPICH, an extension in Open MPI. */
#if defined(OPEN_MPI)
#define PERSISTENT(name) MPIX(name)
#define HAS_MPI4 0
#else
#define PERSISTENT(name) BIG(name)
#define HAS_MPI4 1
#endif

#define RANKS 4

extern int rank;
extern MPI_Comm world;
extern char *program; /* this one */

/* One line of what is to be seen. */
void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same `times` times. */
void expect_times(int times, const char *line);
/* Ends the job where it is false. */
void must(bool condition, const char *what);

void messages(void);
void persistent(void);
void completion(void);
void collectives(void);
void communicators(void);
void neighbors(void);
void windows(void);
void files(void);
void faults(void);
void many_threads(void);
void dynamic(void);
/* In a process that dynamic() made. */
void spawned(MPI_Comm parent);

#endif
