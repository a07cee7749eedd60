/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "ops/code_owner.h"

static void expect(const char *path, enum wio_code_kind kind, const char *name)
{
    const struct wio_code_owner owner = wio_code_owner(path);
    assert_string_equal(owner.name, name);
    assert_int_equal(owner.kind, kind);
}

static void test_libraries(void **state)
{
    (void)state;
    expect("/lib/x86_64-linux-gnu/libc.so.6", WIO_CODE_LIBRARY, "libc");
    expect("/lib64/libc-2.31.so", WIO_CODE_LIBRARY, "libc");
    expect("/usr/lib/libhdf5_serial.so.103.3.0", WIO_CODE_LIBRARY, "HDF5");
    expect("/x/site-packages/h5py.libs/libhdf5-346dbbbc.so.200", WIO_CODE_LIBRARY, "HDF5");
    expect("/usr/lib/libmpi_mpifh.so.40", WIO_CODE_LIBRARY, "MPI");
    expect("/usr/lib/openmpi/mca_io_ompio.so", WIO_CODE_LIBRARY, "MPI");
    expect("/usr/lib/libnetcdff.so.7", WIO_CODE_LIBRARY, "NetCDF");
    expect("/usr/lib/libpnetcdf.so.4", WIO_CODE_LIBRARY, "PnetCDF");
    expect("/usr/lib/libadios2_c.so.2.9", WIO_CODE_LIBRARY, "ADIOS");
    expect("/usr/lib/libstdc++.so.6.0.30", WIO_CODE_LIBRARY, "libstdc++");
    expect("/usr/lib/libc++.so.1", WIO_CODE_LIBRARY, "libc++");
    expect("/usr/lib/libgfortran.so.5", WIO_CODE_LIBRARY, "libgfortran");
    expect("/x/site-packages/pandas/_libs/parsers.cpython-311.so", WIO_CODE_LIBRARY, "Python");
    expect("", WIO_CODE_LIBRARY, "");
    expect("[vdso]", WIO_CODE_LIBRARY, "");
}

static void test_interpreters(void **state)
{
    (void)state;
    expect("/usr/bin/python3.11", WIO_CODE_INTERPRETER, "Python");
    expect("/usr/lib/libpython3.11.so.1.0", WIO_CODE_INTERPRETER, "Python");
    expect("/usr/lib/R/lib/libR.so", WIO_CODE_INTERPRETER, "R");
}

static void test_programs(void **state)
{
    (void)state;
    expect("/home/u/sim", WIO_CODE_OWN, "");
    expect("/home/u/libcheckpoint.so", WIO_CODE_OWN, "");
    expect("/home/u/libc_io.so", WIO_CODE_OWN, "");
    expect("/home/u/pythonic", WIO_CODE_OWN, "");
    expect("/home/libhdf5.so.1/sim", WIO_CODE_OWN, "");
    expect("/home/u/liblammps.so.0", WIO_CODE_OWN, "");
    expect("/home/u/Run", WIO_CODE_OWN, "");
}

static void test_scripts(void **state)
{
    (void)state;
    struct wio_code_script script = {0};
    assert_true(wio_code_script("python:load:/home/u/train.py", &script));
    assert_int_equal(script.function_bytes, 4);
    assert_memory_equal(script.function, "load", 4);
    assert_string_equal(script.file, "/home/u/train.py");
    assert_false(wio_code_script("python:load", &script));
    assert_false(wio_code_script("/home/u/python:load:/x", &script));
    expect("python:load:/home/u/train.py", WIO_CODE_OWN, "");
    expect("python:<module>:<string>", WIO_CODE_OWN, "");
    expect("python:load:/home/u/lib/python3-io/train.py", WIO_CODE_OWN, "");
    expect("python:load:/usr/lib/python3.11/json/__init__.py", WIO_CODE_LIBRARY, "Python");
    expect("python:read:/home/u/v/lib/python3.12/site-packages/h5py/h.py", WIO_CODE_LIBRARY,
           "Python");
    expect("python:_find:<frozen importlib._bootstrap>", WIO_CODE_LIBRARY, "Python");
}

/* Behind an interpreter only its program's frames are the program. */
static void test_frames_behind_an_interpreter(void **state)
{
    (void)state;
    bool is_behind = false;
    assert_false(wio_code_is_own("/usr/lib/libc.so.6", &is_behind));
    assert_false(wio_code_is_own("/usr/bin/python3.11", &is_behind));
    assert_false(wio_code_is_own("/home/u/embeds", &is_behind));
    assert_false(wio_code_is_own("python:dump:/usr/lib/python3.11/json/__init__.py", &is_behind));
    assert_true(wio_code_is_own("python:save:/home/u/train.py", &is_behind));
    is_behind = false;
    assert_true(wio_code_is_own("/home/u/sim", &is_behind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_interpreters),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_frames_behind_an_interpreter),
    };
    return WIO_RUN(tests);
}
