#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libwhyio as another project uses it: headers, library and whyio.pc are installed below a
directory; the examples are compiled with what pkg-config says, as C11 and as C++17, and run.

usage: installed_test.py SOURCE BUILD WHYIO [STORE-SERVED]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = """0,0.25,0.001,pwrite,/scratch/out,4096,1024
1,0.3,0.5,pread,/scratch/in,0,4096
0,0.9,0.002,fsync,/scratch/out,0,0
"""
CPLUSPLUS = """
#include <cstdio>
#include <cstring>
#include <whyio/derive.h>
#include <whyio/edges.h>
#include <whyio/ops.h>
#include <whyio/segment.h>
#include <whyio/source.h>
#include <whyio/version.h>

int main(int, char **argv)
{
    wio_error err = WIO_ERROR_INIT;
    wio_trace *trace = nullptr;
    wio_derive_params params = {};
    params.struct_size = sizeof(params);
    params.is_in_memory = true;
    if (wio_trace_open(argv[1], &trace, &err) != WIO_OK ||
        wio_trace_derive_edges(trace, &params, &err) != WIO_OK) {
        std::printf("%s\\n", err.message);
        return 1;
    }
    wio_trace_info info;
    wio_trace_get_info(trace, &info);
    std::printf("%s %d %d %llu\\n", wio_version(), wio_trace_edges(trace) != nullptr,
                std::strcmp(wio_op_name(wio_op_find("pwrite")), "pwrite") == 0,
                static_cast<unsigned long long>(info.events));
    wio_filter filter = {};
    wio_cursor *cursor = nullptr;
    if (wio_cursor_create(trace, &filter, &cursor, &err) != WIO_ERR_USAGE) {
        return 1;
    }
    std::printf("%s\\n", err.message);
    wio_trace_close(trace);
}
"""
HEADERS = ["derive", "edges", "event", "ops", "segment", "source", "status", "trace", "version"]
CPLUSPLUS_STORE = """
#include <whyio/store.h>

int main()
{
    wio_store_params params = {};
    params.struct_size = sizeof(params);
    params.address = "nonsense";
    wio_store *store = nullptr;
    wio_error err = WIO_ERROR_INIT;
    return wio_store_connect(&params, &store, &err) == WIO_ERR_USAGE ? 0 : 1;
}
"""


def run(command, **more):
    result = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def declared(include):
    """The functions that the public headers declare, those that are inline left out."""
    names = set()
    for name in HEADERS:
        with open(os.path.join(include, "whyio", name + ".h"), encoding="utf-8") as header:
            text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
        text = re.sub(r"static inline.*?\n}\n", "", text, flags=re.S)
        text = re.sub(r"typedef[^;]*;", "", text)
        names |= set(re.findall(r"\b(wio_\w+)\s*\(", text))
    return names


class Installed:
    def __init__(self, build, root):
        self.root = root
        self.build = build
        for tag in ("devel", "runtime"):
            run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root,
                 "--tags", tag])
        self.pc = self.find("whyio.pc")
        self.include = os.path.dirname(os.path.dirname(self.find("trace.h")))
        self.library = self.find("libwhyio.so")

    def find(self, name):
        for folder, _, names in os.walk(self.root):
            if name in names:
                return os.path.join(folder, name)
        sys.exit(f"{name} is not installed")

    def flags(self):
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(self.pc),
                   PKG_CONFIG_SYSROOT_DIR=self.root)
        return run(["pkg-config", "--cflags", "--libs", "whyio"], env=env).split()

    def compile(self, compiler, source, program):
        run(compiler + ["-Wall", "-Wextra", "-Werror", "-pedantic", source, "-o", program] + self.flags())

    def environment(self):
        return dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(self.library))

    def run(self, command, **more):
        return run(command, env=self.environment(), **more)


def check_exports(installed):
    """What the library exports is what its headers declare."""
    out = run(["nm", "-D", "--defined-only", installed.library])
    exported = {line.split()[-1] for line in out.splitlines()}
    assert exported == declared(installed.include), exported ^ declared(installed.include)


def check_headers(installed):
    """Each header compiles alone against what is installed."""
    for name in HEADERS:
        for language in (["gcc", "-std=c11", "-x", "c"], ["g++", "-std=c++17", "-x", "c++"]):
            if shutil.which(language[0]):
                run(language + ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-"]
                    + installed.flags(), input=f"#include <whyio/{name}.h>\n")


def check_examples(installed, source, whyio, work):
    """A trace is written by one example, read by whyio, by the other example and from C++."""
    for name in ("csv_trace", "costly_lines"):
        installed.compile(["gcc", "-std=c11"], os.path.join(source, "examples/libwhyio", name + ".c"),
                          os.path.join(work, name))
    trace = os.path.join(work, "table.whyio")
    os.mkdir(trace)
    installed.run([os.path.join(work, "csv_trace"), os.path.join(trace, "table.seg")], input=TABLE)
    run([whyio, "check", trace])
    info = json.loads(run([whyio, "info", "--format=json", trace]))
    assert (info["ranks"], info["events"], info["bytes_written"], info["complete"]) == (2, 3, 1024, True), info
    out = installed.run([os.path.join(work, "costly_lines"), trace])
    assert re.search(r"0\.501000 s +2 calls  unknown", out), out
    check_bad_table(installed, work, trace)
    if shutil.which("g++"):
        check_cplusplus(installed, trace, work)


def check_store(installed, source, served, work):
    """Processes with the examples on a store in memory: transactions that meet, a shared log, an MPI program."""
    HEADERS.append("store")
    for name in ("store_transfer", "store_log"):
        installed.compile(["gcc", "-std=c11"], os.path.join(source, "examples/libwhyio", name + ".c"),
                          os.path.join(work, name))
    server = subprocess.Popen([served, "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        env = dict(installed.environment(), WHYIO_SERVER=server.stdout.readline().strip())
        running = [subprocess.Popen([os.path.join(work, "store_transfer"), "40", str(i)], env=env, text=True,
                                    stdout=subprocess.PIPE) for i in range(3)]
        out = [process.communicate(timeout=60)[0] for process in running]
        assert all(process.returncode == 0 for process in running), out
        assert out[-1:] and all("sum 1600" in text for text in out), out
        lines = {f"{i} of {who}" for who in "ab" for i in range(20)}
        writers = [subprocess.Popen([os.path.join(work, "store_log"), "/log"], env=env, text=True,
                                    stdin=subprocess.PIPE) for _ in "ab"]
        for who, writer in zip("ab", writers):
            writer.communicate("".join(f"{i} of {who}\n" for i in range(20)), timeout=60)
        read = run([os.path.join(work, "store_log"), "-r", "/log"], env=env)
        assert len(read.splitlines()) == 40 and {line.strip() for line in read.splitlines()} == lines, read
        check_mpi(installed, source, work, env)
    finally:
        server.stdin.close()
        server.stdout.close()
        assert server.wait(timeout=30) == 0
    if shutil.which("g++"):
        path = os.path.join(work, "store.cc")
        with open(path, "w", encoding="ascii") as file:
            file.write(CPLUSPLUS_STORE)
        installed.compile(["g++", "-std=c++17"], path, os.path.join(work, "store_cc"))
        installed.run([os.path.join(work, "store_cc")])


def check_mpi(installed, source, work, env):
    """The example with MPI, where there is one."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        return
    program = os.path.join(work, "store_checkpoint")
    run(["mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror",
         os.path.join(source, "examples/libwhyio/store_checkpoint.c"), "-o", program] + installed.flags())
    env = dict(env, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_rmaps_base_oversubscribe="1")
    out = run(["mpirun", "-n", "2", program, "3"], env=env)
    assert "checkpoint of step 3" in out, out


def check_bad_table(installed, work, trace):
    """A wrong line is named; no segment is left of the table."""
    result = subprocess.run([os.path.join(work, "csv_trace"), os.path.join(trace, "bad.seg")],
                            env=installed.environment(), input=TABLE + "0,1,1,nonsense,/x,0,0\n", text=True, check=False,
                            stderr=subprocess.PIPE)
    assert result.returncode == 3 and "line 4: expected an operation" in result.stderr, result
    assert os.listdir(trace) == ["table.seg"], os.listdir(trace)


def check_cplusplus(installed, trace, work):
    path = os.path.join(work, "all.cc")
    with open(path, "w", encoding="ascii") as file:
        file.write(CPLUSPLUS)
    installed.compile(["g++", "-std=c++17"], path, os.path.join(work, "all"))
    first, second = installed.run([os.path.join(work, "all"), trace]).splitlines()
    version, *rest = first.split()
    assert rest == ["1", "1", "3"], first
    assert os.path.exists(installed.library + "." + version), version
    assert "struct_size of struct wio_filter is 0 B" in second, second


def main():
    source, build, whyio, *served = sys.argv[1:]
    if build_is_sanitized(build):
        print("skipped: a library with a sanitizer needs programs with it")
        return 77
    with tempfile.TemporaryDirectory(prefix="whyio-library-") as work:
        installed = Installed(build, os.path.join(work, "root"))
        if served:
            check_store(installed, source, served[0], work)
        check_exports(installed)
        check_headers(installed)
        check_examples(installed, source, whyio, work)
    print("libwhyio: examples, headers and exported functions are as documented")
    return 0


def build_is_sanitized(build):
    with open(os.path.join(build, "meson-info/intro-buildoptions.json"), encoding="utf-8") as options:
        values = {option["name"]: option["value"] for option in json.load(options)}
    return values["b_sanitize"] not in ("none", [], "")


if __name__ == "__main__":
    sys.exit(main())
