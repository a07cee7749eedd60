/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads: a child begins after the call that made it began, a wait ends after the
 * child's last event, a join after the thread's.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"
#include "causal/threads/sync.h"

static enum wio_status make_process(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    bool is_program = event->op == WIO_OP_posix_spawn || event->op == WIO_OP_posix_spawnp;
    if (event->op == WIO_OP_system) {
        return wio_infer_helper_begin(infer, event);
    }
    return event->result <= 0
               ? WIO_OK
               : wio_infer_make_image(
                     infer, event, wio_infer_find_child(infer, image, event->result), is_program);
}

/* libc gives the token of a thread that was joined to the next one: of those to come it is the
 * first. */
static enum wio_status make_thread(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    uint64_t token = (uint64_t)event->arg[0];
    uint32_t stream = wio_pair_map_get(&infer->processes.thread_of, image, token);
    if (stream == WIO_INFER_NONE) {
        return WIO_OK;
    }
    wio_pair_map_remove(&infer->processes.thread_of, image, token);
    if (infer->processes.same_token[stream] != WIO_INFER_NONE) {
        WIO_TRY(wio_pair_map_put(&infer->processes.thread_of, image, token,
                                 infer->processes.same_token[stream]));
    }
    WIO_TRY(wio_pair_map_put(&infer->processes.made_of, image, token, stream));
    return wio_infer_bear(infer, event, stream, WIO_EVIDENCE_THREAD);
}

/* A call that succeeded does not return: the next image goes on. */
static enum wio_status replace_image(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    uint32_t next = infer->processes.images[image].successor;
    if (event->error != 0 || next == WIO_INFER_NONE || infer->processes.images[next].is_born ||
        infer->processes.images[image].events_left != 1) {
        return WIO_OK; /* it failed, or another one follows */
    }
    infer->processes.images[next].is_born = true;
    WIO_TRY(wio_infer_inherit(infer, image, next, true));
    WIO_TRY(wio_infer_pass_ranges(infer, event, next));
    WIO_TRY(wio_infer_remember_image(infer, next));
    uint32_t stream = infer->processes.images[next].main_stream;
    return stream == WIO_INFER_NONE ? WIO_OK
                                    : wio_infer_bear(infer, event, stream, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_infer_process_begin(struct wio_infer *infer, const struct wio_event *event)
{
    switch (wio_infer_class(event)) {
    case WIO_CLASS_PROCESS:
        return make_process(infer, event);
    case WIO_CLASS_EXEC:
        return replace_image(infer, event);
    default:
        break;
    }
    bool creates = event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create;
    return creates && event->error == 0 ? make_thread(infer, event) : WIO_OK;
}

/* "anon_inode:[pidfd:12]": R-CHAN-9 */
static int64_t process_in_name(const struct wio_infer *infer, uint32_t string)
{
    const char *text = infer->params.text(infer->params.context, string);
    const char *colon = strrchr(text, ':');
    int64_t pid = 0;
    for (const char *at = colon + 1; *at >= '0' && *at <= '9' && pid < INT32_MAX; at++) {
        pid = pid * 10 + (*at - '0');
    }
    return pid;
}

enum wio_status wio_infer_polled(struct wio_infer *infer, const struct wio_event *event)
{
    if (event->result <= 0 || wio_infer_path_kind(infer, event->path) != WIO_INFER_PATH_PROCESS) {
        return WIO_OK;
    }
    return wio_infer_after_process(infer, event, process_in_name(infer, event->path),
                                   WIO_EVIDENCE_PROCESS);
}

static enum wio_status join_thread(struct wio_infer *infer, const struct wio_event *event)
{
    bool joins = event->op == WIO_OP_pthread_join || event->op == WIO_OP_thrd_join;
    if (!joins || event->error != 0 || event->result != 0) {
        return WIO_OK;
    }
    uint32_t stream =
        wio_pair_map_get(&infer->processes.made_of, wio_infer_stream(infer, event)->process,
                         (uint64_t)event->arg[0]);
    return stream == WIO_INFER_NONE
               ? WIO_OK
               : wio_infer_after_stream(infer, event, stream, WIO_EVIDENCE_THREAD);
}

/* The signal that ended the child; 0 where none did. */
static int ended_by(const struct wio_event *event)
{
    const int status = (int)event->arg[0];
    if (event->op != WIO_OP_waitid) {
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return event->arg[3] == CLD_KILLED || event->arg[3] == CLD_DUMPED ? status : 0;
}

enum wio_status wio_infer_process_end(struct wio_infer *infer, const struct wio_event *event)
{
    if (wio_infer_class(event) == WIO_CLASS_THREAD) {
        return join_thread(infer, event);
    }
    if (wio_infer_class(event) != WIO_CLASS_WAIT) {
        return wio_infer_helper_end(infer, event);
    }
    if (event->error != 0 || event->result <= 0) {
        return WIO_OK;
    }
    int signal = ended_by(event);
    WIO_TRY(signal > 0 ? wio_infer_after_kill(infer, event, event->result, signal) : WIO_OK);
    return wio_infer_after_process(infer, event, event->result, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_infer_count_event(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    struct wio_infer_image *it = &infer->processes.images[image];
    if (!it->is_born) { /* the first process, or one whose making was not recorded */
        it->is_born = true;
        WIO_TRY(wio_infer_remember_image(infer, image));
    }
    if (--it->events_left > 0) {
        return WIO_OK;
    }
    return wio_infer_close_all(infer, image, event);
}
