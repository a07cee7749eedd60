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

static enum wio_status make_process(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    bool is_program = event->op == WIO_OP_posix_spawn || event->op == WIO_OP_posix_spawnp;
    if (event->op == WIO_OP_system) {
        return wio_feed_helper_begin(feed, event);
    }
    return event->result <= 0
               ? WIO_OK
               : wio_feed_make_image(feed, event, wio_feed_find_child(feed, image, event->result),
                                     is_program);
}

/* libc gives the token of a thread that was joined to the next one: of those to come it is the
 * first. */
static enum wio_status make_thread(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint64_t token = (uint64_t)event->arg[0];
    uint32_t stream = wio_pair_map_get(&feed->thread_of, image, token);
    if (stream == WIO_FEED_NONE) {
        return WIO_OK;
    }
    wio_pair_map_remove(&feed->thread_of, image, token);
    if (feed->same_token[stream] != WIO_FEED_NONE) {
        WIO_TRY(wio_pair_map_put(&feed->thread_of, image, token, feed->same_token[stream]));
    }
    WIO_TRY(wio_pair_map_put(&feed->made_of, image, token, stream));
    return wio_feed_bear(feed, event, stream, WIO_EVIDENCE_THREAD);
}

/* A call that succeeded does not return: the next image goes on. */
static enum wio_status replace_image(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint32_t next = feed->images[image].successor;
    if (event->error != 0 || next == WIO_FEED_NONE || feed->images[next].is_born ||
        feed->images[image].events_left != 1) {
        return WIO_OK; /* it failed, or another one follows */
    }
    feed->images[next].is_born = true;
    WIO_TRY(wio_feed_inherit(feed, image, next, true));
    WIO_TRY(wio_feed_pass_ranges(feed, event, next));
    WIO_TRY(wio_feed_remember_image(feed, next));
    uint32_t stream = feed->images[next].main_stream;
    return stream == WIO_FEED_NONE ? WIO_OK
                                   : wio_feed_bear(feed, event, stream, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_feed_process_begin(struct wio_feed *feed, const struct wio_event *event)
{
    switch (wio_feed_class(event)) {
    case WIO_CLASS_PROCESS:
        return make_process(feed, event);
    case WIO_CLASS_EXEC:
        return replace_image(feed, event);
    default:
        break;
    }
    bool creates = event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create;
    return creates && event->error == 0 ? make_thread(feed, event) : WIO_OK;
}

/* "anon_inode:[pidfd:12]": R-CHAN-9 */
static int64_t process_in_name(const struct wio_feed *feed, uint32_t string)
{
    const char *text = feed->params.text(feed->params.context, string);
    const char *colon = strrchr(text, ':');
    int64_t pid = 0;
    for (const char *at = colon + 1; *at >= '0' && *at <= '9' && pid < INT32_MAX; at++) {
        pid = pid * 10 + (*at - '0');
    }
    return pid;
}

enum wio_status wio_feed_polled(struct wio_feed *feed, const struct wio_event *event)
{
    if (event->result <= 0 || wio_feed_path_kind(feed, event->path) != WIO_FEED_PATH_PROCESS) {
        return WIO_OK;
    }
    return wio_feed_after_process(feed, event, process_in_name(feed, event->path),
                                  WIO_EVIDENCE_PROCESS);
}

static enum wio_status join_thread(struct wio_feed *feed, const struct wio_event *event)
{
    bool joins = event->op == WIO_OP_pthread_join || event->op == WIO_OP_thrd_join;
    if (!joins || event->error != 0 || event->result != 0) {
        return WIO_OK;
    }
    uint32_t stream = wio_pair_map_get(&feed->made_of, wio_feed_stream(feed, event)->process,
                                       (uint64_t)event->arg[0]);
    return stream == WIO_FEED_NONE
               ? WIO_OK
               : wio_feed_after_stream(feed, event, stream, WIO_EVIDENCE_THREAD);
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

enum wio_status wio_feed_process_end(struct wio_feed *feed, const struct wio_event *event)
{
    if (wio_feed_class(event) == WIO_CLASS_THREAD) {
        return join_thread(feed, event);
    }
    if (wio_feed_class(event) != WIO_CLASS_WAIT) {
        return wio_feed_helper_end(feed, event);
    }
    if (event->error != 0 || event->result <= 0) {
        return WIO_OK;
    }
    int signal = ended_by(event);
    WIO_TRY(signal > 0 ? wio_feed_after_kill(feed, event, event->result, signal) : WIO_OK);
    return wio_feed_after_process(feed, event, event->result, WIO_EVIDENCE_PROCESS);
}

enum wio_status wio_feed_count_event(struct wio_feed *feed, const struct wio_event *event)
{
    uint32_t image = wio_feed_stream(feed, event)->process;
    struct wio_feed_image *it = &feed->images[image];
    if (!it->is_born) { /* the first process, or one whose making was not recorded */
        it->is_born = true;
        WIO_TRY(wio_feed_remember_image(feed, image));
    }
    if (--it->events_left > 0) {
        return WIO_OK;
    }
    return wio_feed_close_all(feed, image, event);
}
