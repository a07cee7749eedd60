# SPDX-License-Identifier: Apache-2.0
"""Importing this makes Open MPI run in tests: as root, with more ranks than processors, and with a
directory for its sessions that is this test's own. The usual one belongs to all of a user's jobs:
a job that ends removes it while another one starts, which then fails."""
import atexit
import os
import shutil
import tempfile

SESSIONS = tempfile.mkdtemp(prefix="whyio-sessions-")
OWNER = os.getpid()


@atexit.register
def remove_sessions():
    if os.getpid() == OWNER:  # not a child that was forked
        shutil.rmtree(SESSIONS, ignore_errors=True)


os.environ.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_orte_tmpdir_base=SESSIONS,
)
