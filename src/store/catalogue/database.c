/* SPDX-License-Identifier: Apache-2.0 */
#include "store/catalogue/database.h"

#include <errno.h>
#include <string.h>

static const char *const texts[] = {
#define SQL_TEXT(name, text) text,
    CATALOGUE_STATEMENTS(SQL_TEXT)
#undef SQL_TEXT
};

int db_errno(struct wio_catalogue *catalogue, int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_NOMEM:
        return ENOMEM;
    case SQLITE_CONSTRAINT:
        return EEXIST; /* the name, which a transaction has looked for */
    default:
        catalogue->has_failed = true;
        return EIO;
    }
}

sqlite3_stmt *db_statement(struct wio_catalogue *catalogue, enum sql which, int *errno_out)
{
    sqlite3_stmt **statement = &catalogue->statements[which];
    *errno_out = catalogue->has_failed ? EIO : 0;
    if (*errno_out == 0 && *statement == NULL) {
        *errno_out =
            db_errno(catalogue, sqlite3_prepare_v3(catalogue->db, texts[which], -1,
                                                   SQLITE_PREPARE_PERSISTENT, statement, NULL));
    }
    return *errno_out == 0 ? *statement : NULL;
}

int db_run(struct wio_catalogue *catalogue, sqlite3_stmt *statement)
{
    int result = db_errno(catalogue, sqlite3_step(statement));
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return result;
}

static int run_alone(struct wio_catalogue *catalogue, enum sql which)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, which, &result);
    return statement == NULL ? result : db_run(catalogue, statement);
}

int db_begin(struct wio_catalogue *catalogue)
{
    return run_alone(catalogue, SQL_BEGIN);
}

int db_end(struct wio_catalogue *catalogue, int result)
{
    if (result == 0) {
        result = run_alone(catalogue, SQL_COMMIT);
    }
    if (result != 0 && sqlite3_get_autocommit(catalogue->db) == 0) {
        int undone = run_alone(catalogue, SQL_ROLLBACK);
        catalogue->has_failed = catalogue->has_failed || undone != 0;
    }
    return result;
}

/* ---- rows ---- */

void node_of_row(sqlite3_stmt *row, struct node *node_out)
{
    *node_out = (struct node){.parent = (uint64_t)sqlite3_column_int64(row, 1),
                              .stat = {.file = (uint64_t)sqlite3_column_int64(row, 0),
                                       .mode = (uint32_t)sqlite3_column_int64(row, 2),
                                       .uid = (uint32_t)sqlite3_column_int64(row, 3),
                                       .gid = (uint32_t)sqlite3_column_int64(row, 4),
                                       .segments = (uint32_t)sqlite3_column_int64(row, 5),
                                       .stripe_unit = (uint32_t)sqlite3_column_int64(row, 6),
                                       .generation = (uint64_t)sqlite3_column_int64(row, 7),
                                       .atime_ns = sqlite3_column_int64(row, 8),
                                       .mtime_ns = sqlite3_column_int64(row, 9),
                                       .ctime_ns = sqlite3_column_int64(row, 10),
                                       .links = 1}};
}

/* Step to the only row; ENOENT where there is none. The statement stays at the row. */
static int step_to_row(struct wio_catalogue *catalogue, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        return 0;
    }
    return code == SQLITE_DONE ? ENOENT : db_errno(catalogue, code);
}

static void end_row(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

static int take_node(struct wio_catalogue *catalogue, sqlite3_stmt *statement,
                     struct node *node_out)
{
    int result = step_to_row(catalogue, statement);
    if (result == 0) {
        node_of_row(statement, node_out);
    }
    end_row(statement);
    return result;
}

int node_by_id(struct wio_catalogue *catalogue, uint64_t id, struct node *node_out)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_BY_ID, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
    return take_node(catalogue, statement, node_out);
}

int node_by_name(struct wio_catalogue *catalogue, uint64_t parent, const struct leaf_name *name,
                 struct node *node_out)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_BY_NAME, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)parent);
    (void)sqlite3_bind_blob(statement, 2, name->text, (int)name->size, SQLITE_STATIC);
    return take_node(catalogue, statement, node_out);
}

int node_target(struct wio_catalogue *catalogue, uint64_t id, char *text, size_t size,
                size_t *got_out)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_TARGET, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
    result = step_to_row(catalogue, statement);
    if (result == 0) {
        const void *target = sqlite3_column_blob(statement, 0);
        size_t bytes = (size_t)sqlite3_column_bytes(statement, 0);
        *got_out = bytes < size ? bytes : size;
        if (target != NULL) {
            memcpy(text, target, *got_out);
        }
    }
    end_row(statement);
    return result;
}

/* The number that a statement about one node gives; 0 where it gives none. */
static int number_of(struct wio_catalogue *catalogue, enum sql which, uint64_t id, int64_t *out)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, which, &result);
    *out = 0;
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
    result = step_to_row(catalogue, statement);
    if (result == 0) {
        *out = sqlite3_column_int64(statement, 0);
    }
    end_row(statement);
    return result == ENOENT ? 0 : result;
}

int node_has_entries(struct wio_catalogue *catalogue, uint64_t id, bool *has_out)
{
    int64_t number = 0;
    int result = number_of(catalogue, SQL_HAS_ENTRY, id, &number);
    *has_out = number != 0;
    return result;
}

int node_count_links(struct wio_catalogue *catalogue, struct node *node)
{
    int64_t dirs = 0;
    int result = number_of(catalogue, SQL_COUNT_DIRS, node->stat.file, &dirs);
    node->stat.links = (uint32_t)dirs + 2;
    return result;
}

/* ---- changes ---- */

static void bind_node(sqlite3_stmt *statement, const struct node *node)
{
    const struct wio_store_stat *stat = &node->stat;
    (void)sqlite3_bind_int64(statement, 2, (sqlite3_int64)node->parent);
    (void)sqlite3_bind_int64(statement, 3, stat->mode);
    (void)sqlite3_bind_int64(statement, 4, stat->uid);
    (void)sqlite3_bind_int64(statement, 5, stat->gid);
    (void)sqlite3_bind_int64(statement, 6, stat->segments);
    (void)sqlite3_bind_int64(statement, 7, stat->stripe_unit);
    (void)sqlite3_bind_int64(statement, 8, (sqlite3_int64)stat->generation);
    (void)sqlite3_bind_int64(statement, 9, stat->atime_ns);
    (void)sqlite3_bind_int64(statement, 10, stat->mtime_ns);
    (void)sqlite3_bind_int64(statement, 11, stat->ctime_ns);
}

int node_insert(struct wio_catalogue *catalogue, struct node *node, const struct leaf_name *name,
                const struct wio_catalogue_path *target)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_INSERT, &result);
    if (statement == NULL) {
        return result;
    }
    bind_node(statement, node);
    (void)sqlite3_bind_blob(statement, 12, name->size > 0 ? name->text : "", (int)name->size,
                            SQLITE_STATIC);
    if (target != NULL) {
        (void)sqlite3_bind_blob(statement, 13, target->text, (int)target->size, SQLITE_STATIC);
    }
    result = db_run(catalogue, statement);
    node->stat.file = (uint64_t)sqlite3_last_insert_rowid(catalogue->db);
    return result;
}

int node_update(struct wio_catalogue *catalogue, const struct node *node)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_UPDATE, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)node->stat.file);
    bind_node(statement, node);
    return db_run(catalogue, statement);
}

int node_move(struct wio_catalogue *catalogue, const struct node *node, uint64_t parent,
              const struct leaf_name *name, int64_t now_ns)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_MOVE, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)node->stat.file);
    (void)sqlite3_bind_int64(statement, 2, (sqlite3_int64)parent);
    (void)sqlite3_bind_blob(statement, 3, name->text, (int)name->size, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 4, now_ns);
    return db_run(catalogue, statement);
}

int node_delete(struct wio_catalogue *catalogue, uint64_t id)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_DELETE, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
    return db_run(catalogue, statement);
}

int node_touch(struct wio_catalogue *catalogue, uint64_t id, int64_t now_ns)
{
    int result = 0;
    sqlite3_stmt *statement = db_statement(catalogue, SQL_TOUCH, &result);
    if (statement == NULL) {
        return result;
    }
    (void)sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
    (void)sqlite3_bind_int64(statement, 2, now_ns);
    return db_run(catalogue, statement);
}
