/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls inside of which libc moves the working directory or descriptors without a call of ours.
 * They make no events; what we know is forgotten at the right moments.
 */
#include <fts.h>
#include <ftw.h>
#include <spawn.h>
#include <utmp.h>

#include "capture/files/libc_effects.h"
#include "capture/files/paths.h"

/* ---- nftw: with FTW_CHDIR each call of the program's function is made in another directory ----
 */

/* The function of the innermost walk of this thread; the two kinds differ in their struct stat's
 * name alone. */
static __thread cap_function *visitor __attribute__((tls_model("initial-exec")));

#define DEFINE_NFTW(symbol, stat_type)                                                             \
    typedef int symbol##_fn(const char *, const stat_type *, int, struct FTW *);                   \
                                                                                                   \
    static int symbol##_visit(const char *path, const stat_type *st, int type, struct FTW *place)  \
    {                                                                                              \
        symbol##_fn *visit = (symbol##_fn *)visitor;                                               \
        cap_cwd_changed();                                                                         \
        int result = visit(path, st, type, place);                                                 \
        visitor = (cap_function *)visit; /* a walk within the walk had its own */                  \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int symbol(const char *path, symbol##_fn *visit, int descriptors, int flags)        \
    {                                                                                              \
        if ((flags & FTW_CHDIR) == 0) {                                                            \
            return CAP_REAL(symbol)(path, visit, descriptors, flags);                              \
        }                                                                                          \
        visitor = (cap_function *)visit;                                                           \
        int result = CAP_REAL(symbol)(path, symbol##_visit, descriptors, flags);                   \
        cap_cwd_changed();                                                                         \
        return result;                                                                             \
    }

DEFINE_NFTW(nftw, struct stat)
DEFINE_NFTW(nftw64, struct stat64)

/* ---- fts: each step may change the directory ---------------------------------------------- */

#define DEFINE_FTS(open, read, children, close, tree, node)                                        \
    CAP_EXPORT tree *open(char *const *paths, int options,                                         \
                          int (*order)(const node **, const node **))                              \
    {                                                                                              \
        tree *walk = CAP_REAL(open)(paths, options, order);                                        \
        cap_cwd_changed();                                                                         \
        return walk;                                                                               \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT node *read(tree *walk)                                                              \
    {                                                                                              \
        node *found = CAP_REAL(read)(walk);                                                        \
        cap_cwd_changed();                                                                         \
        return found;                                                                              \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT node *children(tree *walk, int options)                                             \
    {                                                                                              \
        node *found = CAP_REAL(children)(walk, options);                                           \
        cap_cwd_changed();                                                                         \
        return found;                                                                              \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int close(tree *walk)                                                               \
    {                                                                                              \
        int result = CAP_REAL(close)(walk);                                                        \
        cap_cwd_changed();                                                                         \
        return result;                                                                             \
    }

DEFINE_FTS(fts_open, fts_read, fts_children, fts_close, FTS, FTSENT)
DEFINE_FTS(fts64_open, fts64_read, fts64_children, fts64_close, FTS64, FTSENT64)

/* ---- descriptors -------------------------------------------------------------------------- */

/* Puts the terminal at 0, 1 and 2 and closes `fd`. */
CAP_EXPORT int login_tty(int fd)
{
    int result = CAP_REAL(login_tty)(fd);
    if (result == 0) {
        cap_fd_clear_range(0, 2);
        cap_fd_clear(fd);
    }
    return result;
}

/* ---- posix_spawn -------------------------------------------------------------------------- */

static bool moves; /* some file actions change the child's directory */

bool cap_spawn_moves(void)
{
    return __atomic_load_n(&moves, __ATOMIC_RELAXED);
}

/* With and without _np: POSIX has had them since 2024, newer libcs under both names. */
#define DEFINE_MOVE(symbol, type, to)                                                              \
    int symbol(posix_spawn_file_actions_t *actions, type to);                                      \
    CAP_EXPORT int symbol(posix_spawn_file_actions_t *actions, type to)                            \
    {                                                                                              \
        __atomic_store_n(&moves, true, __ATOMIC_RELAXED);                                          \
        return CAP_REAL(symbol)(actions, to);                                                      \
    }

DEFINE_MOVE(posix_spawn_file_actions_addchdir, const char *, path)
DEFINE_MOVE(posix_spawn_file_actions_addchdir_np, const char *, path)
DEFINE_MOVE(posix_spawn_file_actions_addfchdir, int, fd)
DEFINE_MOVE(posix_spawn_file_actions_addfchdir_np, int, fd)
