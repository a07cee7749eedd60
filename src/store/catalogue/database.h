/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue's table: nodes by number and by name, in transactions. All functions return 0 or an
 * errno value. */
#ifndef WIO_STORE_CATALOGUE_DATABASE_H
#define WIO_STORE_CATALOGUE_DATABASE_H

#include <sqlite3.h>

#include "store/catalogue/catalogue.h"

enum {
    ROOT_NODE = 1,
    NAME_BYTES = 255, /* NAME_MAX */
    LINK_BYTES = 4095 /* of a symbolic link */
};

/* X(name, SQL): statements, prepared when they are first used. */
#define NODE_COLUMNS                                                                               \
    "id, parent, mode, uid, gid, segments, stripe_unit, generation, atime_ns, mtime_ns, ctime_ns"
#define CATALOGUE_STATEMENTS(X)                                                                    \
    X(SQL_BEGIN, "BEGIN IMMEDIATE")                                                                \
    X(SQL_COMMIT, "COMMIT")                                                                        \
    X(SQL_ROLLBACK, "ROLLBACK")                                                                    \
    X(SQL_BY_ID, "SELECT " NODE_COLUMNS " FROM node WHERE id = ?1")                                \
    X(SQL_BY_NAME, "SELECT " NODE_COLUMNS " FROM node WHERE parent = ?1 AND name = ?2")            \
    X(SQL_TARGET, "SELECT target FROM node WHERE id = ?1")                                         \
    X(SQL_LIST, "SELECT " NODE_COLUMNS ", name FROM node WHERE parent = ?1 AND id > ?2 "           \
                "ORDER BY id")                                                                     \
    X(SQL_HAS_ENTRY, "SELECT 1 FROM node WHERE parent = ?1 LIMIT 1")                               \
    X(SQL_COUNT_DIRS, "SELECT count(*) FROM node WHERE parent = ?1 AND (mode & 61440) = 16384")    \
    X(SQL_INSERT, "INSERT INTO node(parent, mode, uid, gid, segments, stripe_unit, generation, "   \
                  "atime_ns, mtime_ns, ctime_ns, name, target) "                                   \
                  "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)")                    \
    X(SQL_UPDATE, "UPDATE node SET parent = ?2, mode = ?3, uid = ?4, gid = ?5, segments = ?6, "    \
                  "stripe_unit = ?7, generation = ?8, atime_ns = ?9, mtime_ns = ?10, "             \
                  "ctime_ns = ?11 WHERE id = ?1")                                                  \
    X(SQL_MOVE, "UPDATE node SET parent = ?2, name = ?3, ctime_ns = ?4 WHERE id = ?1")             \
    X(SQL_TOUCH, "UPDATE node SET mtime_ns = ?2, ctime_ns = ?2 WHERE id = ?1")                     \
    X(SQL_DELETE, "DELETE FROM node WHERE id = ?1")

enum sql {
#define SQL_ENUM(name, text) name,
    CATALOGUE_STATEMENTS(SQL_ENUM)
#undef SQL_ENUM
        SQL_COUNT
};

struct wio_catalogue {
    struct wio_io *io;
    struct wio_sqlite_vfs *vfs;
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    bool has_failed; /* nothing more is done */
};

/* A row. stat.size, .used and .links are not in it. */
struct node {
    uint64_t parent; /* 0: of the root */
    struct wio_store_stat stat;
};

struct leaf_name {
    char text[NAME_BYTES];
    size_t size;
};

/* The statement, reset. NULL: *errno_out. */
sqlite3_stmt *db_statement(struct wio_catalogue *catalogue, enum sql which, int *errno_out);
/* Run it to its end and reset it. */
int db_run(struct wio_catalogue *catalogue, sqlite3_stmt *statement);
/* What a result of SQLite is; after what the disk did wrong the catalogue has failed. */
int db_errno(struct wio_catalogue *catalogue, int code);

int db_begin(struct wio_catalogue *catalogue);
/* Commit if `result` is 0, else undo: the result of both. */
int db_end(struct wio_catalogue *catalogue, int result);

/* ENOENT: there is none. */
int node_by_id(struct wio_catalogue *catalogue, uint64_t id, struct node *node_out);
int node_by_name(struct wio_catalogue *catalogue, uint64_t parent, const struct leaf_name *name,
                 struct node *node_out);
int node_target(struct wio_catalogue *catalogue, uint64_t id, char *text, size_t size,
                size_t *got_out);
int node_has_entries(struct wio_catalogue *catalogue, uint64_t id, bool *has_out);
/* stat.links */
int node_count_links(struct wio_catalogue *catalogue, struct node *node);
void node_of_row(sqlite3_stmt *row, struct node *node_out);
/* node->stat.file becomes its number. `target` NULL: no link. */
int node_insert(struct wio_catalogue *catalogue, struct node *node, const struct leaf_name *name,
                const struct wio_catalogue_path *target);
int node_update(struct wio_catalogue *catalogue, const struct node *node);
int node_move(struct wio_catalogue *catalogue, const struct node *node, uint64_t parent,
              const struct leaf_name *name, int64_t now_ns);
int node_delete(struct wio_catalogue *catalogue, uint64_t id);
/* Its entries have changed. */
int node_touch(struct wio_catalogue *catalogue, uint64_t id, int64_t now_ns);

#endif
