/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a throttled recording: what all methods share, and which method conducts them. */
#include "throttle/rules/throttle_internal.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "record/directory.h"
#include "record/launch.h"

enum { EXIT_SIGNAL_BASE = 128 };

/* A recorder that is started once per rank can repeat its rank, but not the program. */
static enum wio_status check_launch(struct wio_error *err)
{
    char launch[WIO_LAUNCH_BYTES];
    wio_launch_identify(launch);
    if (launch[0] != '\0' && wio_launch_recorders(launch) != 1) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--causal=throttle runs the command several times: expected it to be "
                             "the launcher (whyio record .. -- mpirun ..; with --hosts where the "
                             "processes are on several hosts), found that a launcher started this");
    }
    return WIO_OK;
}

/* A command that ended well in spite of an interrupt was not run as often as it had to be. */
static void tell_interrupt(struct wio_throttle_session *t)
{
    struct wio_throttle_result *result = t->result;
    bool is_whole = result->end == WIO_THROTTLE_MERGED || result->end == WIO_THROTTLE_PROVEN ||
                    result->end == WIO_THROTTLE_EXPLAINED;
    if (wio_throttle_is_interrupted(t) && result->exit_status == 0 && !is_whole) {
        result->exit_status = EXIT_SIGNAL_BASE + t->interrupt;
    }
}

enum wio_status wio_record_throttled(const struct wio_record_params *record,
                                     const struct wio_throttle_params *params,
                                     struct wio_throttle_result *result_out, struct wio_error *err)
{
    *result_out = (struct wio_throttle_result){.error = WIO_ERROR_INIT, .time_error = -1};
    struct wio_throttle_session t = {.params = params, .record = *record, .result = result_out};
    char fallback[WIO_DIRECTORY_NAME_BYTES];
    WIO_TRY(check_launch(err));
    if (record->dir == NULL) { /* not the pid of a child */
        wio_directory_default_name(record->command[0], fallback);
        t.record.dir = fallback;
    }
    WIO_TRY(wio_board_create(&t.board, err));
    t.record.causal = true;
    t.record.board = t.board.path;
    t.input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    wio_rerun_hold_interrupts(&t.original_mask);
    enum wio_status status = wio_throttle_direct(&t, err);
    if (status == WIO_OK) {
        status = params->method == WIO_HOLD_TRACE ? wio_throttle_trace(&t, err)
                                                  : wio_throttle_priority(&t, err);
    }
    tell_interrupt(&t);
    wio_rerun_release_interrupts(&t.original_mask);
    wio_hold_destroy(t.hold);
    wio_profile_fini(&t.profile);
    wio_roster_fini(&t.roster);
    wio_director_destroy(t.director);
    wio_board_destroy(&t.board);
    return status;
}
