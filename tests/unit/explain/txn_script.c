/* SPDX-License-Identifier: Apache-2.0 */
#include "txn_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/types.h"
#include "support/unit.h"

#define NAMES_MAX 64u
#define MS UINT64_C(1000000)

/* What is known of an attempt by its rows so far. */
struct known {
    struct wio_txn_name txn;
    uint32_t origin;
    struct wio_txn_range range;
    uint8_t mode;
};

struct script {
    struct wio_aborts *aborts; /* one of the two is NULL */
    struct wio_txn_writer *writer;
    struct known known[NAMES_MAX];
    uint32_t known_count;
    struct wio_txn_blocker blockers[WIO_TXN_BLOCKERS];
    struct wio_txn_row row;
    bool has_touched;
};

static struct wio_txn_name name_of(const char *word)
{
    struct wio_txn_name name = {.client = (uint64_t)word[0], .attempt = 1};
    char *end = NULL;
    name.number = strtoul(word + 1, &end, 10);
    if (*end == '.') {
        name.attempt = (uint32_t)strtoul(end + 1, NULL, 10);
    }
    name.birth_ns = name.number;
    return name;
}

static struct known *know(struct script *script, const char *word)
{
    struct wio_txn_name name = name_of(word);
    for (uint32_t i = 0; i < script->known_count; i++) {
        const struct wio_txn_name *known = &script->known[i].txn;
        if (known->client == name.client && known->number == name.number &&
            known->attempt == name.attempt) {
            return &script->known[i];
        }
    }
    assert_true(script->known_count < NAMES_MAX);
    script->known[script->known_count] = (struct known){.txn = name};
    return &script->known[script->known_count++];
}

/* Origins 1 .. as the cursor of a trace would have them. */
static uint32_t origin_of(struct script *script, const char *application, const char *place)
{
    if (script->writer != NULL) {
        const struct wio_txn_origin origin = {application, "/bin/sim", "node", place};
        uint32_t id = 0;
        assert_int_equal(wio_txn_writer_origin(script->writer, &origin, &id, NULL), WIO_OK);
        return id;
    }
    struct wio_abort_sources *sources = &script->aborts->sources;
    struct wio_abort_place found = {0};
    assert_int_equal(wio_strtab_add(&sources->applications, application, strlen(application),
                                    &found.application),
                     WIO_OK);
    assert_int_equal(wio_strtab_add(&sources->places, place, strlen(place), &found.place), WIO_OK);
    for (uint32_t id = 1; id < sources->origin_count; id++) {
        if (memcmp(&sources->origins[id], &found, sizeof(found)) == 0) {
            return id;
        }
    }
    uint32_t id = sources->origin_count == 0 ? 1 : sources->origin_count;
    sources->origins = reallocarray(sources->origins, id + 1, sizeof(*sources->origins));
    assert_non_null(sources->origins);
    sources->origins[0] = (struct wio_abort_place){0};
    sources->origins[id] = found;
    sources->origin_count = id + 1;
    return id;
}

static void take_kind(struct script *script, const char *word)
{
    static const char *const kinds[] = {"",      "arrive", "answer", "release",
                                        "wound", "begin",  "call",   "end"};
    for (uint8_t kind = 1; kind < WIO_TXN_KINDS; kind++) {
        if (strcmp(word, kinds[kind]) == 0) {
            script->row.kind = kind;
            return;
        }
    }
    fail_msg("unknown row '%s'", word);
}

static bool take_number(struct script *script, const char *word)
{
    const struct {
        const char *name;
        uint64_t *place;
        uint64_t unit;
    } numbers[] = {
        {"lock=", &script->row.lock_ns, MS},         {"storage=", &script->row.storage_ns, MS},
        {"run=", &script->row.run_ns, MS},           {"queue=", &script->row.queue_ns, MS},
        {"transfer=", &script->row.transfer_ns, MS}, {"touched=", &script->row.bytes, 1}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0) {
            *numbers[i].place = strtoul(word + strlen(numbers[i].name), NULL, 10) * numbers[i].unit;
            script->has_touched = script->has_touched || numbers[i].unit == 1;
            return true;
        }
    }
    return false;
}

static bool take_result(struct script *script, const char *word)
{
    const struct {
        const char *name;
        uint16_t *place;
        uint16_t value;
    } results[] = {{"ok", &script->row.result, WIO_TXN_OK},
                   {"refused", &script->row.result, WIO_TXN_REFUSED},
                   {"no", &script->row.result, WIO_TXN_VOTED_NO},
                   {"busy", &script->row.result, WIO_TXN_BUSY},
                   {"silent", &script->row.result, WIO_TXN_NO_ANSWER},
                   {"aborted", &script->row.outcome, WIO_TXN_ENDED_ABORTED},
                   {"committed", &script->row.outcome, WIO_TXN_COMMITTED}};
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (strcmp(word, results[i].name) == 0) {
            *results[i].place = results[i].value;
            return true;
        }
    }
    return false;
}

static bool take_role(struct script *script, const char *word)
{
    static const char *const roles[] = {"holder", "queued", "prepared", "dead"};
    for (uint8_t role = 0; role < WIO_LOCK_ROLES; role++) {
        if (strcmp(word, roles[role]) == 0) {
            script->blockers[script->row.blocker_listed - 1].role = role;
            return true;
        }
    }
    return false;
}

static void take_blocker(struct script *script, const char *word)
{
    const struct known *known = know(script, word);
    script->blockers[script->row.blocker_listed++] = (struct wio_txn_blocker){
        .txn = known->txn, .range = known->range, .origin = known->origin, .mode = known->mode};
    script->row.blocker_count = script->row.blocker_listed;
}

static void take_word(struct script *script, char *word, bool is_blocker)
{
    struct wio_txn_row *row = &script->row;
    unsigned long number = 0;
    unsigned long to = 0;
    if (is_blocker) {
        if (!take_role(script, word)) {
            take_blocker(script, word);
        }
    } else if (strcmp(word, "r") == 0 || strcmp(word, "w") == 0) {
        row->mode = word[0] == 'r' ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE;
    } else if (take_number(script, word) || take_result(script, word)) {
        return;
    } else if (sscanf(word, "s%lu", &number) == 1) {
        row->server = (uint32_t)number;
    } else if (sscanf(word, "f%lu", &number) == 1) {
        row->range.file = number;
    } else if (sscanf(word, "%lu-%lu", &number, &to) == 2) {
        row->range.from = number;
        row->range.to = to;
    } else {
        fail_msg("unknown word '%s'", word);
    }
}

/* What later rows of the attempt, and blockers, go by. */
static void remember(struct script *script, struct known *known)
{
    struct wio_txn_row *row = &script->row;
    row->origin = known->origin;
    if (row->range.to != 0) {
        known->range = row->range;
        known->mode = row->mode;
    }
    if (row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_OK && !script->has_touched) {
        row->bytes = row->range.to - row->range.from;
    }
}

static void run_line(struct script *script, char *line)
{
    char *rest = NULL;
    char *word = strtok_r(line, " ", &rest);
    bool is_blocker = false;
    if (word == NULL) {
        return;
    }
    script->row = (struct wio_txn_row){.t_ns = strtoul(word, NULL, 10) * MS,
                                       .server = WIO_TXN_NO_SERVER,
                                       .blockers = script->blockers};
    script->has_touched = false;
    take_kind(script, strtok_r(NULL, " ", &rest));
    struct known *known = know(script, strtok_r(NULL, " ", &rest));
    script->row.txn = known->txn;
    if (script->row.kind == WIO_TXN_BEGIN) {
        const char *application = strtok_r(NULL, " ", &rest);
        known->origin = origin_of(script, application, strtok_r(NULL, " ", &rest));
    }
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (strcmp(word, "by") == 0) {
            is_blocker = true;
        } else {
            take_word(script, word, is_blocker);
        }
    }
    remember(script, known);
    if (script->writer != NULL) {
        assert_int_equal(wio_txn_writer_put(script->writer, &script->row, NULL), WIO_OK);
    } else {
        assert_int_equal(wio_aborts_row(script->aborts, &script->row), WIO_OK);
    }
}

static void run_lines(struct script *script, const char *text)
{
    char *copy = strdup(text);
    char *rest = NULL;
    assert_non_null(copy);
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        run_line(script, line);
    }
    free(copy);
}

void txn_script_run(const char *text, struct wio_aborts *aborts)
{
    struct script script = {.aborts = aborts};
    *aborts = (struct wio_aborts){0};
    wio_aborts_init(aborts);
    run_lines(&script, text);
    wio_aborts_finish(aborts);
}

static void write_tables(struct wio_txn_writer *writer)
{
    char name[64];
    for (uint32_t i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof(name), "/data/f%u", i);
        const struct wio_txn_file file = {i, name, 4, 65536};
        assert_int_equal(wio_txn_writer_file(writer, &file, NULL), WIO_OK);
        (void)snprintf(name, sizeof(name), "node%u:7777", i);
        const struct wio_txn_server server = {name, i, false};
        assert_int_equal(wio_txn_writer_server(writer, &server, NULL), WIO_OK);
    }
}

void txn_script_write(const char *text, const char *name)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params)};
    struct script script = {0};
    struct wio_segment *segment = NULL;
    assert_int_equal(wio_segment_create(name, &params, &segment, NULL), WIO_OK);
    assert_int_equal(wio_txn_writer_create(segment, &script.writer, NULL), WIO_OK);
    write_tables(script.writer);
    run_lines(&script, text);
    assert_int_equal(wio_txn_writer_finish(script.writer, NULL), WIO_OK);
    wio_txn_writer_destroy(script.writer);
    assert_int_equal(wio_segment_finish(segment, NULL), WIO_OK);
}
