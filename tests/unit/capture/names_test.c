/* SPDX-License-Identifier: Apache-2.0 */
/* What is told by names: MPI libraries, launchers, MPI-IO's files. */
#include "support/unit.h"

#include "capture/launcher.h"
#include "capture/process.h"

static void knows_mpi_libraries(void **state)
{
    (void)state;
    assert_true(cap_module_name_is_mpi("/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4"));
    assert_true(cap_module_name_is_mpi("/usr/lib/libmpich.so.12.2.2"));
    assert_true(cap_module_name_is_mpi("/usr/lib/openmpi/lib/openmpi3/mca_fs_ufs.so"));
    assert_true(cap_module_name_is_mpi("/opt/libopen-pal.so.40"));
    assert_false(cap_module_name_is_mpi("/usr/lib/libhdf5_openmpi.so.103"));
    assert_false(cap_module_name_is_mpi("/home/me/mpi/app"));
    assert_false(cap_module_name_is_mpi("[vdso]"));
    assert_false(cap_module_name_is_mpi(""));
}

static void tells_helpers_from_libraries(void **state)
{
    (void)state;
    assert_false(cap_module_name_is_mpi("/usr/lib/libevent_core-2.1.so.7"));
    assert_true(cap_module_name_is_mpi_helper("/usr/lib/libevent_core-2.1.so.7"));
    assert_true(cap_module_name_is_mpi_helper("/usr/lib/libucp.so.0.0.0"));
    assert_false(cap_module_name_is_mpi_helper("/usr/lib/libc.so.6"));
    assert_true(cap_module_name_is_mpi_io("/usr/lib/libmpich.so.12"));
    assert_true(cap_module_name_is_mpi_io("/usr/lib/openmpi3/mca_fs_ufs.so"));
    assert_false(cap_module_name_is_mpi_io("/usr/lib/openmpi3/mca_btl_vader.so"));
    assert_false(cap_module_name_is_mpi_io("/usr/lib/libucs.so.0"));
}

static void knows_interpreters(void **state)
{
    (void)state;
    assert_true(cap_module_name_is_interpreter("/usr/bin/python3.11"));
    assert_true(cap_module_name_is_interpreter("/opt/lib/libpython3.12.so.1.0"));
    assert_false(cap_module_name_is_interpreter("/usr/lib/python3/dist-packages/numpy/core.so"));
    assert_false(cap_module_name_is_interpreter("/usr/lib/libboost_python311.so"));
    assert_false(cap_module_name_is_interpreter("[vdso]"));
}

static void knows_launchers(void **state)
{
    (void)state;
    assert_true(cap_is_launcher_name("/usr/bin/orterun"));
    assert_true(cap_is_launcher_name("mpiexec.hydra"));
    assert_true(cap_is_launcher_name("/usr/sbin/slurmstepd"));
    assert_false(cap_is_launcher_name("/usr/bin/mpirunner"));
    assert_false(cap_is_launcher_name("/opt/orterun/app"));
}

static void lets_mpi_io_through(void **state)
{
    (void)state;
    assert_true(cap_mpi_io_is_program(WIO_CALL_open, -1, "/scratch/out.dat"));
    assert_false(cap_mpi_io_is_program(WIO_CALL_open, -1, "/dev/shm/psm2_shm.1"));
    assert_false(cap_mpi_io_is_program(WIO_CALL_open, -1, "/proc/self/status"));
    assert_false(cap_mpi_io_is_program(WIO_CALL_open, -1, "/tmp/ompi.host.0/pid.1/x"));
    assert_false(cap_mpi_io_is_program(WIO_CALL_stat, -1, "/scratch/out.dat"));
    assert_false(cap_mpi_io_is_program(WIO_CALL_pwrite, 700, NULL));
    cap_fd_set(700, 1, 0);
    assert_true(cap_mpi_io_is_program(WIO_CALL_pwrite, 700, NULL));
    assert_false(cap_mpi_io_is_program(WIO_CALL_fstat, 700, NULL));
    cap_fd_clear(700);
    assert_false(cap_mpi_io_is_program(WIO_CALL_pwrite, 700, NULL));
}

/* The generator and the tables must agree, or no reader takes our rings. */
static void hash_of_the_table(void **state)
{
    (void)state;
    assert_int_equal(WIO_CALLS_HASH, wio_calls_hash());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_mpi_libraries), cmocka_unit_test(tells_helpers_from_libraries),
        cmocka_unit_test(knows_launchers),     cmocka_unit_test(knows_interpreters),
        cmocka_unit_test(lets_mpi_io_through), cmocka_unit_test(hash_of_the_table),
    };
    return WIO_RUN(tests);
}
