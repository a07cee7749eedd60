/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank of a replay under mpirun or srun. `whyio replay` becomes this program when it finds that
 * a launcher has started it; it is built once for each MPI, and is all that knows MPI.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "messages.h"
#include "options.h"
#include "replay_mpi_link.h"
#include "replay_run.h"

enum { EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_OUTPUT = 4 };

int main(int argc, char **argv)
{
    struct wio_replay_link *link;
    struct wio_error err = WIO_ERROR_INIT;
    messages_begin();
    argp_err_exit_status = EXIT_USAGE;
    /* A waiting process sleeps between polls (rp_exchange_nap). Yielding instead can keep Linux
     * 6.18 from running anything else beside it for half a minute. */
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    if (link_open(&argc, &argv, &link, &err) != WIO_OK) {
        (void)cmd_fail(&err);
        return EXIT_INPUT;
    }
    int status = replay_run(argc, argv, link);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        cmd_say("cannot write to the standard output");
        status = EXIT_OUTPUT;
    }
    if (link->is_lost) {
        link->abort(link->self, status);
    }
    link_close(link);
    return status;
}
