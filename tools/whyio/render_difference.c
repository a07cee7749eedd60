/* SPDX-License-Identifier: Apache-2.0 */
#include "render_difference.h"

#include <inttypes.h>
#include <stdio.h>

#include <whyio/event.h>

#include "options.h"

static void add_op(struct wio_json *json, const char *key, const struct wio_differ_op *op)
{
    if (!op->is_there) {
        wio_json_null(json, key);
        return;
    }
    wio_json_object_begin(json, key);
    wio_json_string(json, "op", op->name);
    wio_json_string(json, "path", op->path);
    if (op->offset == WIO_NO_OFFSET) {
        wio_json_null(json, "offset");
    } else {
        wio_json_i64(json, "offset", op->offset);
    }
    if (op->size == WIO_NO_SIZE) {
        wio_json_null(json, "size");
    } else {
        wio_json_u64(json, "size", op->size);
    }
    wio_json_i64(json, "result", op->result);
    wio_json_u64(json, "seq", op->seq);
    wio_json_object_end(json);
}

void render_difference_json(struct wio_json *json, const struct wio_difference *difference)
{
    if (difference == NULL) {
        wio_json_null(json, "difference");
        return;
    }
    wio_json_object_begin(json, "difference");
    wio_json_array_begin(json, "runs");
    wio_json_u64(json, NULL, difference->runs[0]);
    wio_json_u64(json, NULL, difference->runs[1]);
    wio_json_array_end(json);
    if (difference->rank < 0) {
        wio_json_null(json, "rank");
    } else {
        wio_json_i64(json, "rank", difference->rank);
    }
    wio_json_i64(json, "pid", difference->pid);
    wio_json_i64(json, "tid", difference->tid);
    if (difference->turns[0] == '\0') {
        wio_json_null(json, "turns");
    } else {
        wio_json_string(json, "turns", difference->turns);
    }
    add_op(json, "first", &difference->ops[0]);
    add_op(json, "second", &difference->ops[1]);
    wio_json_object_end(json);
}

static void say_op(const char *which, uint32_t run, const struct wio_differ_op *op)
{
    char offset[32] = "";
    char size[32] = "";
    if (!op->is_there) {
        cmd_say("  run %" PRIu32 ": nothing, %s had ended", run, which);
        return;
    }
    if (op->offset != WIO_NO_OFFSET) {
        snprintf(offset, sizeof(offset), " at %" PRId64, op->offset);
    }
    if (op->size != WIO_NO_SIZE) {
        snprintf(size, sizeof(size), " %" PRIu64 " bytes", op->size);
    }
    cmd_say("  run %" PRIu32 ": seq %" PRIu64 " %s %s%s%s = %" PRId64, run, op->seq, op->name,
            op->path, size, offset, op->result);
}

void render_difference_text(const struct wio_difference *difference)
{
    char thread[64];
    if (difference->rank >= 0) {
        snprintf(thread, sizeof(thread), "rank %d (thread %d)", (int)difference->rank,
                 (int)difference->tid);
    } else {
        snprintf(thread, sizeof(thread), "process %d thread %d", (int)difference->pid,
                 (int)difference->tid);
    }
    if (difference->turns[0] != '\0') {
        cmd_say(
            "all runs do the same, but %s decides which thread does which work: %s differs first",
            difference->turns, thread);
    } else {
        cmd_say("the program is not deterministic: %s differs first", thread);
    }
    for (int i = 0; i < 2; i++) {
        say_op("it", difference->runs[i], &difference->ops[i]);
    }
}
