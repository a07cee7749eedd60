/* SPDX-License-Identifier: Apache-2.0 */
/* What put, get and remove have in common: threads for files, counts, names. */
#ifndef WIO_STORE_STAGE_INTERNAL_H
#define WIO_STORE_STAGE_INTERNAL_H

#include <pthread.h>
#include <sys/queue.h>

#include "store/stage/stage.h"

enum { STAGE_CHUNK = 4 << 20, STAGE_PATH_MAX = 4096, STAGE_DEPTH_MAX = 256 };

/* A file to be copied. */
struct stage_file {
    STAILQ_ENTRY(stage_file) next;
    char *local; /* below `root` .. */
    int root;
    const char *base; /* .. which is called so; the caller's */
    char *remote;
    uint32_t mode;
    int64_t mtime_ns;
    uint64_t bytes; /* put: of the local file */
    bool is_met;    /* in a tree: where a link is meanwhile, it is not followed */
};

/* A directory of a tree, whose access bits and time are set when all below it is there. */
struct stage_dir {
    SLIST_ENTRY(stage_dir) next;
    char *local; /* below `root` .. */
    int root;
    const char *base; /* .. which is called so; the caller's */
    char *remote;
    uint32_t mode; /* 0777 */
    int64_t mtime_ns;
    bool was_there; /* another user's is left as it is */
};

struct stage {
    struct wio_store *store;
    const struct wio_stage_params *params;
    void (*copy)(struct stage *stage, struct stage_file *file, void *buffer);
    void (*settle)(struct stage *stage, const struct stage_dir *dir);
    SLIST_HEAD(, stage_dir) dirs; /* those of the walk, the last one first */
    pthread_t *threads;
    unsigned thread_count;
    pthread_mutex_t mutex; /* what is below */
    pthread_cond_t is_there;
    pthread_cond_t has_room;
    STAILQ_HEAD(, stage_file) files;
    unsigned waiting;
    bool is_ending;
    struct wio_stage_counts counts;
};

/* Threads that call `copy` (NULL: none). WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status
stage_begin(struct stage *stage, struct wio_store *store, const struct wio_stage_params *params,
            void (*copy)(struct stage *stage, struct stage_file *file, void *buffer),
            struct wio_error *err);
/* put: one file; `buffer` has STAGE_CHUNK bytes. */
void stage_put_file(struct stage *stage, struct stage_file *file, void *buffer);
/* Waits for all files, then settles the directories, those below before those above. */
void stage_end(struct stage *stage, struct wio_stage_counts *counts_out);

/* Paths are copied. Waits while many files wait. */
void stage_add(struct stage *stage, const struct stage_file *like);
/* By the thread of the walk. Paths are copied; `settle` comes at the end. */
void stage_add_dir(struct stage *stage, const struct stage_dir *like);
void stage_failed(struct stage *stage, const struct wio_error *err);
/* The same for a failed system call or a status alone. */
void stage_failed_sys(struct stage *stage, const char *path, const char *what);
/* The same for the file that stage_name() says. */
void stage_failed_at(struct stage *stage, const char *base, const char *local, const char *what);
void stage_failed_as(struct stage *stage, const char *path, enum wio_status status,
                     const char *what);
void stage_moved(struct stage *stage, uint64_t bytes);
void stage_count(struct stage *stage, uint64_t *count);

/* How a local name below `base` is called in messages. */
void stage_name(char out[STAGE_PATH_MAX], const char *base, const char *local);

/* "dir/name"; false: it is too long. */
bool stage_join(char out[STAGE_PATH_MAX], const char *dir, const char *name);
/* The last name of a path: "a" of "x/a/"; "" of "/". */
void stage_last(char out[STAGE_PATH_MAX], const char *path);
/* Whether a path with that last name is no entry of a directory, but the content of one: "", ".",
 * "..". */
bool stage_is_content(const char *last);
/* Beneath `dir`, through no link. -1 and errno. */
int stage_open(int dir, const char *path, int flags, unsigned mode);
/* Access bits of the source; set-user-id, set-group-id and sticky as the directory has them. */
static inline uint32_t stage_dir_mode(uint32_t now, uint32_t mode)
{
    return (now & 07000) | (mode & 0777);
}
/* Nanoseconds since 1970, also before it. */
struct timespec stage_time(int64_t ns);
/* What the store knows of a path of the command line: ":" in front is not part of it. */
const char *stage_remote(const char *path);

#endif
