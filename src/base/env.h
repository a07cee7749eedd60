/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every environment variable that whyio knows, in one table: it drives parsing, `whyio env` and the
 * man page. WIO_ENV(id, name, default, meaning). Ignored in set-user-id programs.
 * Variables marked "internal" are set by `whyio record` for the capture library.
 */
#ifndef WIO_BASE_ENV_H
#define WIO_BASE_ENV_H

#include <stddef.h>

#define WIO_ENV_LIST(X)                                                                            \
    X(CAPTURE_LIB, "WHYIO_CAPTURE_LIB", "beside the program",                                      \
      "path of libwhyio-capture.so that record preloads")                                          \
    X(RING_DIR, "WHYIO_RING_DIR", "the trace directory",                                           \
      "directory for the raw rings while the program runs (node-local is best)")                   \
    X(LOG, "WHYIO_LOG", "off",                                                                     \
      "messages of whyio itself on stderr: error, warn, info, debug, trace")                       \
    X(PROGRESS, "WHYIO_PROGRESS", "auto", "progress bars: auto (stderr is a terminal), on, off")   \
    X(JOB_ENV, "WHYIO_JOB_ENV", "none", "name of a variable that holds the job id")                \
    X(JOB, "WHYIO_JOB", "none", "the job id itself; wins over every resolver")                     \
    X(STACKS, "WHYIO_STACKS", "0", "internal: 1 records full stacks (record --stacks), 2 none")    \
    X(MPI_INTERNALS, "WHYIO_MPI_INTERNALS", "0",                                                   \
      "internal: 1 records what the MPI library does itself (record --mpi-internals)")             \
    X(MMAP_PAGES, "WHYIO_MMAP_PAGES", "0",                                                         \
      "internal: 1 records which pages of mapped files are written (record --mmap-pages)")         \
    X(REPLAY_MACHINE_RANKS, "WHYIO_REPLAY_MACHINE_RANKS", "all",                                   \
      "how many ranks of a machine share memory in a replay under mpirun or srun; others send "    \
      "messages")                                                                                  \
    X(REPLAY_SILENCE, "WHYIO_REPLAY_SILENCE", "30s",                                               \
      "a replay under mpirun or srun ends when a rank has heard nothing for so long")              \
    X(CAUSAL, "WHYIO_CAUSAL", "0",                                                                 \
      "internal: 1 records synchronisation too (record --causal=observe and throttle)")            \
    X(BOARD, "WHYIO_BOARD", "none",                                                                \
      "internal: file by which the recorder holds threads (record --causal=throttle)")             \
    X(FILTERS, "WHYIO_FILTERS", "any",                                                             \
      "internal: how many filters of system calls (seccomp) the recorder has; a program that has " \
      "more is not recorded")                                                                      \
    X(DIRECTOR, "WHYIO_DIRECTOR", "none",                                                          \
      "internal: where recorders behind a launcher reach the one in front of it (record "          \
      "--hosts); "                                                                                 \
      "the launcher has to pass it on")                                                            \
    X(INTERFACE, "WHYIO_INTERFACE", "of the named hosts, the only one, or of the own name",        \
      "network interface, or address of one, at which record --hosts is reached by other hosts")   \
    X(STORE_SERVER, "WHYIO_SERVER", "none",                                                        \
      "address of the store that store, load and libwhyio use: unix:PATH, HOST:PORT or @FILE")     \
    X(STORE_KEY, "WHYIO_STORE_KEY", "none", "file with the key of that store")                     \
    X(TRACER, "WHYIO_TRACER", "none",                                                              \
      "internal: where a program asks to be traced that becomes a static one (record "             \
      "--static=trace)")                                                                           \
    X(TRACE, "WHYIO_TRACE", "none",                                                                \
      "a trace directory: a program with libwhyio-capture.so in LD_PRELOAD is recorded there "     \
      "without whyio record (whyio env --trace)")                                                  \
    X(RINGS, "WHYIO_RINGS", "none",                                                                \
      "internal: directory of the rings that the capture library writes, made by record")          \
    X(MAX_SIZE, "WHYIO_MAX_SIZE", "none",                                                          \
      "bytes of events to keep of the processes of a host (record --max-size): 64M, 2G")           \
    X(KEEP, "WHYIO_KEEP", "first",                                                                 \
      "which events WHYIO_MAX_SIZE keeps: first or last (record --keep)")

enum wio_env {
#define WIO_ENV_ENUM(id, name, def, meaning) WIO_ENV_##id,
    WIO_ENV_LIST(WIO_ENV_ENUM)
#undef WIO_ENV_ENUM
        WIO_ENV_COUNT
};

struct wio_env_var {
    const char *name;
    const char *fallback;
    const char *meaning;
};

/* The table, WIO_ENV_COUNT entries. */
const struct wio_env_var *wio_env_table(void);
/* Current value, NULL where it is not set or the program is set-user-id. */
const char *wio_env_get(enum wio_env var);

#endif
