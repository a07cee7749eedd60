/* SPDX-License-Identifier: Apache-2.0 */
/* What is told by names: MPI libraries, launchers, MPI-IO's files. */
#include "support/unit.h"

#include <stdio.h>

#include "capture/core/process.h"
#include "capture/core/program/launcher.h"
#include "capture/mpi/mpi_io.h"

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

static void assert_io(enum cap_mpi_io expected, unsigned call, const char *path)
{
    assert_int_equal(cap_mpi_io_judge(call, -1, path), expected);
}

/* R-MPI-10. No wrapper of MPI was called: each file may be the program's. */
static void without_names_all_files_are_the_programs(void **state)
{
    (void)state;
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "/scratch/out.dat");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/dev/shm/psm2_shm.1");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/proc/self/status");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/tmp/ompi.host.0/pid.1/x");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_stat, "/scratch/out.dat");
}

static void names_tell_mpi_io_from_the_librarys_business(void **state)
{
    (void)state;
    cap_mpi_io_trust_names();
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/scratch/out.dat");
    cap_mpi_io_name("/scratch/out.dat");
    cap_mpi_io_name("ufs:/dev/shm/fast");
    cap_mpi_io_name("near");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "/scratch/out.dat");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_unlink, "/scratch/out.dat");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_lstat, "/dev/shm/fast");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "near");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "/anywhere/near");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/etc/near");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/scratch/other.dat");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/scratch");
}

static void side_files_bear_the_name_of_the_file(void **state)
{
    (void)state;
    assert_io(CAP_MPI_IO_SIDE, WIO_CALL_open, "/scratch/.out.dat.shfp.846930886");
    assert_io(CAP_MPI_IO_SIDE, WIO_CALL_unlink, "/scratch/out.dat-16777216-77.lock");
    assert_io(CAP_MPI_IO_SIDE, WIO_CALL_open, "/scratch/out.dat.locktest.0");
    assert_io(CAP_MPI_IO_SIDE, WIO_CALL_open, "/scratch/out.dat.metadata.3");
    assert_io(CAP_MPI_IO_SIDE, WIO_CALL_open, "/tmp/ompi.vm.0/pid.1/1/out.dat_cid-3-99.sm");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/tmp/ompi.vm.0/pid.1/1/out.dat.0");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/scratch/out");
    assert_io(CAP_MPI_IO_NONE, WIO_CALL_open, "/scratch/my.out.dat.0");
    /* one that the program names itself is its own */
    cap_mpi_io_name("/scratch/out.dat.data.0");
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "/scratch/out.dat.data.0");
}

static void descriptors_keep_what_they_were_opened_for(void **state)
{
    (void)state;
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_pwrite, 700, NULL), CAP_MPI_IO_NONE);
    cap_fd_set(700, 1, 0);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_pwrite, 700, NULL), CAP_MPI_IO_NONE);
    cap_fd_set_mpi(700, false);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_pwrite, 700, NULL), CAP_MPI_IO_FILE);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_fcntl, 700, NULL), CAP_MPI_IO_FILE);
    cap_fd_clear(700);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_pwrite, 700, NULL), CAP_MPI_IO_NONE);
    cap_fd_set(700, 0, 0); /* its path is not known */
    cap_fd_set_mpi(700, true);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_read, 700, NULL), CAP_MPI_IO_SIDE);
    assert_int_equal(cap_mpi_io_judge(WIO_CALL_mmap, 700, NULL), CAP_MPI_IO_NONE);
    cap_fd_clear(700);
}

/* Names that were overwritten leave no file unseen. */
static void many_names_lose_no_file(void **state)
{
    (void)state;
    char path[64];
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(path, sizeof(path), "/scratch/step.%d", i);
        cap_mpi_io_name(path);
        assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, path);
    }
    assert_io(CAP_MPI_IO_FILE, WIO_CALL_open, "/scratch/step.0");
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
        cmocka_unit_test(knows_mpi_libraries),
        cmocka_unit_test(tells_helpers_from_libraries),
        cmocka_unit_test(knows_launchers),
        cmocka_unit_test(knows_interpreters),
        cmocka_unit_test(without_names_all_files_are_the_programs),
        cmocka_unit_test(names_tell_mpi_io_from_the_librarys_business),
        cmocka_unit_test(side_files_bear_the_name_of_the_file),
        cmocka_unit_test(descriptors_keep_what_they_were_opened_for),
        cmocka_unit_test(many_names_lose_no_file),
        cmocka_unit_test(hash_of_the_table),
    };
    return WIO_RUN(tests);
}
