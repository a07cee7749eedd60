/* SPDX-License-Identifier: Apache-2.0 */
#include "support/script.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>

#include "ops/calls.h"
#include "support/script_edges.h"

#define STEP_NS 1000u
#define DURATION_NS 100u

struct script {
    struct wio_segment *segment;
    struct wio_error err;
    uint32_t processes;
    uint32_t streams;
    uint64_t next_ns;
    struct script_edges edges;
    char machine[1024];
};

static void die(const struct script *script, const char *what, const char *word)
{
    (void)fprintf(stderr, "script: %s '%s' %s\n", what, word, script->err.message);
    exit(2);
}

static void must(struct script *script, enum wio_status status, const char *what)
{
    if (status != WIO_OK) {
        die(script, "cannot write", what);
    }
}

/* The value of "key=value", NULL if the word is another one. */
static const char *value_of(const char *word, const char *key)
{
    size_t bytes = strlen(key);
    return strncmp(word, key, bytes) == 0 && word[bytes] == '=' ? word + bytes + 1 : NULL;
}

static bool number(const char *word, const char *key, int base, int64_t *out)
{
    const char *value = value_of(word, key);
    if (value != NULL) {
        *out = (int64_t)strtoll(value, NULL, base);
    }
    return value != NULL;
}

static uint32_t string(struct script *script, const char *text)
{
    uint32_t id;
    must(script, wio_segment_string(script->segment, text, strlen(text), &id, &script->err), text);
    return id;
}

static void put_process(struct script *script, char **save)
{
    struct wio_process_info process = {.rank = -1,
                                       .host = "host",
                                       .job = "",
                                       .exe = "/bin/program",
                                       .argv = "program",
                                       .cwd = "/",
                                       .parent = UINT32_MAX,
                                       .end = 1};
    int64_t value;
    uint32_t index;
    process.pid = atoi(strtok_r(NULL, " ", save));
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        if (number(word, "parent", 10, &value)) {
            process.parent = (uint32_t)value;
        } else if (number(word, "rank", 10, &value)) {
            process.rank = (int32_t)value;
        } else if (number(word, "dropped", 10, &value)) {
            process.dropped = (uint64_t)value;
        } else if (number(word, "start", 10, &value)) {
            process.start_ns = (uint64_t)value;
        } else if (value_of(word, "host") != NULL) {
            process.host = value_of(word, "host");
        } else {
            die(script, "unknown", word);
        }
    }
    must(script, wio_segment_process(script->segment, &process, &index, &script->err), "process");
    script->processes++;
}

static void put_stream(struct script *script, char **save)
{
    uint32_t process = (uint32_t)atoi(strtok_r(NULL, " ", save));
    int32_t tid = atoi(strtok_r(NULL, " ", save));
    int64_t token = 0;
    uint32_t index;
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        if (!number(word, "token", 10, &token)) {
            die(script, "unknown", word);
        }
    }
    must(script,
         wio_segment_stream(script->segment, process, tid, (uint64_t)token, &index, &script->err),
         "stream");
    script->streams++;
}

static enum wio_file_type type_of(const struct script *script, const char *word)
{
    static const char *const names[] = {"unknown", "none",   "regular", "directory", "symlink",
                                        "fifo",    "socket", "chardev", "blockdev"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) == 0) {
            return (enum wio_file_type)i;
        }
    }
    die(script, "unknown type", word);
    return WIO_FILE_UNKNOWN;
}

static void put_file(struct script *script, char **save)
{
    struct wio_file_info file = {.path = string(script, strtok_r(NULL, " ", save)), .mode = 0644};
    int64_t value;
    file.type = type_of(script, strtok_r(NULL, " ", save));
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        if (number(word, "mode", 8, &value)) {
            file.mode = (uint32_t)value;
        } else if (number(word, "size", 10, &value)) {
            file.size = (uint64_t)value;
        } else if (value_of(word, "target") != NULL) {
            file.target = string(script, value_of(word, "target"));
        } else if (value_of(word, "fs") != NULL) {
            file.fs = string(script, value_of(word, "fs"));
        } else {
            die(script, "unknown", word);
        }
    }
    must(script, wio_segment_file(script->segment, &file, &script->err), "file");
}

static bool put_number(struct wio_event *event, const char *word, bool *has_result)
{
    int64_t value;
    bool is_known = true;
    if (number(word, "stream", 10, &value)) {
        event->stream = (uint32_t)value;
    } else if (number(word, "t", 10, &value)) {
        event->t_ns = (uint64_t)value;
    } else if (number(word, "dur", 10, &value)) {
        event->dur_ns = (uint64_t)value;
    } else if (number(word, "fd", 10, &value)) {
        event->fd = (int32_t)value;
    } else if (number(word, "fd2", 10, &value)) {
        event->fd2 = (int32_t)value;
    } else if (number(word, "off", 10, &value)) {
        event->offset = value;
    } else if (number(word, "off2", 10, &value)) {
        event->offset2 = value;
    } else if (number(word, "size", 10, &value)) {
        event->size = (uint64_t)value;
    } else if (number(word, "res", 10, &value)) {
        event->result = value;
        *has_result = true;
    } else if (number(word, "gap_cpu", 10, &value)) {
        event->gap_cpu_ns = (uint64_t)value;
    } else if (number(word, "gap_slept", 10, &value)) {
        event->gap_slept = value != 0;
    } else if (number(word, "dur_cpu", 10, &value)) {
        event->dur_cpu_ns = (uint64_t)value;
    } else if (number(word, "err", 10, &value)) {
        event->error = (uint16_t)value;
    } else {
        is_known = false;
    }
    return is_known;
}

static bool put_argument(struct wio_event *event, const char *word)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3"};
    for (unsigned i = 0; i < 4; i++) {
        if (number(word, names[i], 0, &event->arg[i])) {
            return true;
        }
    }
    return false;
}

/* Where in the source it was called. */
static void put_source(struct script *script, struct wio_event *event, int64_t address)
{
    const struct wio_frame frame = {
        .module = "/program", .build_id = "", .address = (uint64_t)address};
    must(script, wio_segment_source(script->segment, &frame, 1, &event->source, &script->err),
         "source");
}

static void put_word(struct script *script, struct wio_event *event, const char *word,
                     bool *has_result)
{
    int64_t address;
    if (number(word, "at", 0, &address)) {
        put_source(script, event, address);
    } else if (value_of(word, "path") != NULL) {
        event->path = string(script, value_of(word, "path"));
    } else if (value_of(word, "path2") != NULL) {
        event->path2 = string(script, value_of(word, "path2"));
    } else if (strcmp(word, "caused") == 0) {
        event->flags |= WIO_EVENT_CAUSED;
    } else if (strcmp(word, "async") == 0) {
        event->flags |= WIO_EVENT_ASYNC;
    } else if (strcmp(word, "pending") == 0) {
        event->result = WIO_RESULT_PENDING;
        *has_result = true;
    } else if (!put_number(event, word, has_result) && !put_argument(event, word)) {
        die(script, "unknown", word);
    }
}

static void put_event(struct script *script, const char *op, char **save)
{
    struct wio_event event = {.t_ns = script->next_ns,
                              .dur_ns = DURATION_NS,
                              .fd = WIO_NO_FD,
                              .fd2 = WIO_NO_FD,
                              .offset = WIO_NO_OFFSET,
                              .offset2 = WIO_NO_OFFSET,
                              .size = WIO_NO_SIZE};
    bool has_result = false;
    event.op = (uint16_t)wio_op_find(op);
    if (event.op == WIO_OP_unknown) {
        die(script, "unknown operation", op);
    }
    event.call = (uint16_t)wio_call_find(op);
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        put_word(script, &event, word, &has_result);
    }
    if (!has_result) {
        event.result = event.error != 0 ? -1 : event.size == WIO_NO_SIZE ? 0 : (int64_t)event.size;
    }
    script->next_ns = event.t_ns + STEP_NS;
    must(script, wio_segment_append(script->segment, &event, &script->err), op);
}

static void put_defaults(struct script *script)
{
    char process[] = "100";
    char stream[] = "0 100";
    char *save = NULL;
    if (script->processes == 0) {
        char copy[16];
        (void)snprintf(copy, sizeof(copy), "x %s", process);
        (void)strtok_r(copy, " ", &save);
        put_process(script, &save);
    }
    if (script->streams == 0) {
        char copy[16];
        (void)snprintf(copy, sizeof(copy), "x %s", stream);
        (void)strtok_r(copy, " ", &save);
        put_stream(script, &save);
    }
}

/* A line of META key 13; the recorder's host is that of processes without one. */
static void put_machine(struct script *script, const char *line)
{
    size_t used = strlen(script->machine);
    (void)snprintf(script->machine + used, sizeof(script->machine) - used, "%s\n", line);
}

static void put_meta(struct script *script, unsigned key, const char *text)
{
    if (text[0] != '\0') {
        must(script, wio_segment_meta(script->segment, key, text, strlen(text), &script->err),
             "meta");
    }
}

static void put_line(struct script *script, char *line)
{
    char *save = NULL;
    line[strcspn(line, "#")] = '\0';
    char *word = strtok_r(line, " ", &save);
    if (word == NULL) {
        return;
    }
    if (strcmp(word, "process") == 0) {
        put_process(script, &save);
    } else if (strcmp(word, "stream") == 0) {
        put_stream(script, &save);
    } else if (strcmp(word, "cpus") == 0) {
        word = strtok_r(NULL, " ", &save);
        must(script,
             wio_segment_meta(script->segment, WIO_SEGMENT_META_CPUS, word, strlen(word),
                              &script->err),
             "meta");
    } else if (strcmp(word, "machine") == 0) {
        put_machine(script, save);
    } else if (strcmp(word, "file") == 0) {
        put_file(script, &save);
    } else if (!script_edges_line(&script->edges, word, &save)) {
        put_defaults(script);
        put_event(script, word, &save);
    }
}

void script_write(const char *text, const char *dir)
{
    char name[PATH_MAX];
    const struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    static struct script script;
    script = (struct script){.err = WIO_ERROR_INIT, .next_ns = STEP_NS};
    char *save = NULL;
    char *copy = strdup(text);
    (void)snprintf(name, sizeof(name), "%s/script.seg", dir);
    must(&script, wio_segment_create(name, &params, &script.segment, &script.err), name);
    for (char *line = strtok_r(copy, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        put_line(&script, line);
    }
    put_defaults(&script);
    put_meta(&script, WIO_SEGMENT_META_RECORDER_DONE, "1");
    put_meta(&script, WIO_SEGMENT_META_MACHINE, script.machine);
    put_meta(&script, WIO_SEGMENT_META_HOST, script.machine[0] != '\0' ? "host" : "");
    must(&script, wio_segment_finish(script.segment, &script.err), name);
    if (script.edges.is_wanted) {
        script_edges_write(&script.edges, dir);
    }
    free(copy);
}
