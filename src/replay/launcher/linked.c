/* SPDX-License-Identifier: Apache-2.0 */
/* A replay under a launcher, step by step; each ends with an agreement whether all could take it.
 */
#include "replay/launcher/linked.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "replay/launcher/placement.h"

/* ---- the target ---- */

#define TOKEN_BYTES 64u

static enum wio_status put_token(const struct rp_stage *stage, const char *token,
                                 struct wio_error *err)
{
    int fd = openat(stage->root.fd, token, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return wio_error_sys(err, stage->root.path, "cannot make a file in the target");
    }
    (void)close(fd);
    return WIO_OK;
}

/* Does this rank see what rank 0 has made? Then it is one file system for both. */
static bool sees(const struct rp_stage *stage, const char *token)
{
    /* house: allow beneath: the target, as the user names it */
    int dir = open(stage->root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_there = dir >= 0 && faccessat(dir, token, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    wio_fd_cleanup(&dir);
    return is_there;
}

static enum wio_status open_root(struct rp_stage *stage, struct wio_error *err)
{
    struct wio_replay_link *link = stage->params->link;
    enum wio_status status = WIO_OK;
    if (link->rank == 0) {
        status = rp_root_open(stage->params->root, &stage->root, err);
    }
    WIO_TRY(wio_replay_agree(link, status, err));
    if (link->rank != 0) {
        status = rp_root_open(stage->params->root, &stage->root, err);
    }
    return wio_replay_agree(link, status, err);
}

/* Rank 0 prepares; then, on each machine that does not see its files, the leader. */
static enum wio_status prepare(struct rp_stage *stage, struct wio_error *err)
{
    char token[TOKEN_BYTES] = "";
    struct wio_replay_link *link = stage->params->link;
    enum wio_status status = WIO_OK;
    if (link->rank == 0) {
        (void)snprintf(token, sizeof(token), ".whyio-replay-%llx-%lx",
                       (unsigned long long)wio_clock_unix_ns(), (long)getpid());
        status = rp_stage_prepare(stage, err);
        status = status == WIO_OK ? put_token(stage, token, err) : status;
    }
    WIO_TRY(wio_replay_agree(link, status, err));
    WIO_TRY(link->share(link->self, 0, token, sizeof(token), err));
    bool has_own = stage->machine.is_leader && !sees(stage, token);
    if (has_own && link->rank != 0) {
        status = rp_stage_prepare(stage, err);
    }
    status = wio_replay_agree(link, status, err);
    if (link->rank == 0) {
        (void)unlinkat(stage->root.fd, token, 0);
    }
    return status;
}

/* ---- all of it ---- */

static enum wio_status set_up(struct rp_stage *stage, struct wio_error *err)
{
    struct wio_replay_link *link = stage->params->link;
    enum wio_status status = rp_machine_set_clock(&stage->machine, link, err);
    if (status != WIO_OK) {
        link->is_lost = true;
        return status;
    }
    if (link->machines > 1) {
        status = rp_far_init(&stage->far, stage->plan, link, stage->homes, err);
        stage->far.clock_ahead_ns = stage->machine.clock_ahead_ns;
    }
    if (status == WIO_OK) {
        status = rp_stage_set_up(stage, err);
    }
    return wio_replay_agree(link, status, err);
}

/* With signals held back. */
static enum wio_status perform(struct rp_stage *stage, struct wio_replay_result *result,
                               struct wio_error *err)
{
    struct wio_replay_link *link = stage->params->link;
    struct rp_watch watch = {stage->params->progress, stage->params->progress_arg, 0};
    WIO_TRY(wio_replay_agree(link, rp_machine_open(&stage->machine, link, stage->plan, err), err));
    WIO_TRY(prepare(stage, err));
    WIO_TRY(set_up(stage, err));
    enum wio_status status = rp_coordinate(&stage->run, &watch, err);
    result->signal = watch.signal;
    WIO_TRY(wio_replay_agree(link, status, err));
    if (stage->manifest.fd >= 0) {
        status = rp_manifest_prune(&stage->manifest, &stage->root, err);
    }
    WIO_TRY(wio_replay_agree(link, status, err));
    WIO_TRY(rp_linked_gather(stage, err));
    return rp_result_take(result, stage->plan, &stage->board, &stage->ranks, err);
}

static enum wio_status assign(struct rp_stage *stage, struct wio_error *err)
{
    struct wio_replay_link *link = stage->params->link;
    stage->homes = calloc((size_t)stage->plan->family.group_count + 1, sizeof(*stage->homes));
    if (stage->homes == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the replay");
    }
    return rp_home_assign(&stage->plan->family, link->ranks, stage->homes, err);
}

enum wio_status rp_linked_replay(struct rp_stage *stage, struct wio_replay_result *result,
                                 struct wio_error *err)
{
    struct rp_signals signals;
    struct wio_replay_link *link = stage->params->link;
    WIO_TRY(wio_replay_agree(link, assign(stage, err), err));
    if (stage->params->dry_run) {
        return rp_stage_count(stage, result, err);
    }
    WIO_TRY(open_root(stage, err));
    WIO_TRY(wio_replay_agree(link, rp_signals_hold(&signals, err), err));
    enum wio_status status = perform(stage, result, err);
    rp_signals_release(&signals);
    return status;
}
