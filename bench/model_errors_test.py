# SPDX-License-Identifier: Apache-2.0
"""The figures of bench/model_suite.py, computed by hand."""
import argparse
import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

import model_live
import model_programs
import model_suite
from model_errors import Errors, Predicted, Series, errors, op, scatter


def series(costs, first=0):
    return Series("s", "s", {}, [op() for _ in costs], costs, None, first)


class ErrorsTest(unittest.TestCase):
    def test_errors_of_two_writes(self):
        found = errors(series([1.0, 4.0]), Predicted([2.0, 3.0], None))
        self.assertEqual(found, Errors(mre=0.625, wape=0.4, total=0.0, worst=0.2))

    def test_what_only_prepares_does_not_count(self):
        found = errors(series([100.0, 2.0], first=1), Predicted([1.0, 3.0], None))
        self.assertEqual(found, Errors(mre=0.5, wape=0.5, total=0.5, worst=0.5))

    def test_scatter_is_the_error_of_the_median(self):
        self.assertAlmostEqual(scatter(series([9.0, 1.0, 2.0, 4.0], first=1)), (1 + 0 + 0.5) / 3)

    def test_delays_are_those_that_there_were(self):
        rows = [[0, 1.0, 0.5, 0], [1, 1.75, 0.25, 0], [2, 2.0, 1.0, 0]]
        real = model_live.as_it_was([op(delay_s=9.0)] * 3, rows)
        self.assertEqual([line["delay_s"] for line in real], [1.0, 0.25, 0.0])


class LiveTest(unittest.TestCase):
    def test_space_is_that_of_the_farthest_write(self):
        ops = [op(8192, 4096), op(0, 4096), op(0, 4096, file="b"), op(method="fsync", file="b")]
        self.assertEqual(model_live.space_of(ops), 12288 + 4096)

    def test_parts_that_are_not_there_are_refused(self):
        for wrong in ("--only=lve", "--parts=stdio,memory", "--programs=tetris"):
            out = io.StringIO()
            with self.assertRaises(SystemExit) as left, contextlib.redirect_stderr(out):
                model_suite.parse([wrong])
            self.assertEqual(left.exception.code, 2)
            self.assertIn(wrong.rpartition("=")[2].rpartition(",")[2] + ": there are", out.getvalue())
        options = model_suite.parse(["--parts=stdio,on_limited_device", "--programs=fio"])
        self.assertEqual(options.parts, ["stdio", "on_limited_device"])

    def test_live_series_need_a_host_that_is_there(self):
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as scratch:
            host = os.path.join(scratch, "host.json")
            with self.assertRaises(SystemExit) as left, contextlib.redirect_stderr(out):
                model_suite.parse(["--only=programs,live", "--host=" + host])
            self.assertEqual(model_suite.parse(["--only=programs", "--host=" + host]).host, host)
            with open(host, "x", encoding="ascii"):
                self.assertEqual(model_suite.parse(["--only=live", "--host=" + host]).host, host)
        self.assertEqual(left.exception.code, 2)
        self.assertIn("no file " + host, out.getvalue())


class ProgramsTest(unittest.TestCase):
    def test_storage_of_the_same_kind_is_another_one(self):
        @contextlib.contextmanager
        def storage(scratch):
            with open(os.path.join(scratch, "image"), "x", encoding="ascii"):
                yield scratch

        options = argparse.Namespace(source="same", target="same", programs=["p"], host=None)
        with tempfile.TemporaryDirectory() as scratch, \
                mock.patch.dict(model_programs.STORAGE, {"same": storage}), \
                mock.patch.dict(model_programs.COMMANDS, {"p": lambda _: ["p"]}), \
                mock.patch.object(model_programs, "whyio"), \
                mock.patch.object(model_programs, "measure", side_effect=lambda *args: args[3:5]):
            (here, there), = model_programs.programs(options, scratch, [])
        self.assertNotEqual(here, there)

    def measured(self, seconds, options=()):
        """A program whose records and predictions take these seconds, and where it was recorded."""
        places = []
        summaries = [{"traced_s": traced, "total_s": total} for traced, total in seconds]
        with mock.patch.object(model_programs, "record", side_effect=lambda *args: places.append(args[1:])), \
                mock.patch.object(model_programs, "record_options", return_value=options), \
                mock.patch.object(model_programs, "RUNS", 3), \
                mock.patch.object(model_programs, "MODELS", ["kernel"]), \
                mock.patch.object(model_programs, "predicted", side_effect=summaries):
            program = model_programs.measure("p", ["p"], "scratch", "here", "there", "host")
            return program, model_programs.cells(program), places

    def test_records_and_runs_there_take_turns_and_medians_count(self):
        program, cells, places = self.measured(
            [(1.0, 1.1), (2.0, 2.2), (9.0, 9.0), (2.0, 2.0), (1.0, 1.8), (4.0, 2.0)])
        self.assertEqual([place[0] for place in places], ["here", "there"] * 3)
        self.assertAlmostEqual(model_programs.error(program, "kernel"), 1.8 / 2 - 1)
        self.assertEqual(cells, {"recorded, s": "1.000 ± 400 %", "run there, s": "2.000 ± 50 %",
                                 "kernel": "1.800 ± 219 %: -10.0 %", "kernel, recorded there": "+0.0 %"})

    def test_what_is_held_to_be_recorded_runs_free_there(self):
        _, cells, places = self.measured([(1.0, 1.0)] * 6, ("--hold",))
        self.assertEqual([place[2:] for place in places], [("--hold",), ()] * 3)
        self.assertEqual(cells["kernel, recorded there"], "-")

    def test_a_host_that_is_there_is_kept_and_another_one_is_made(self):
        with tempfile.TemporaryDirectory() as scratch, \
                mock.patch.object(model_programs, "whyio") as whyio:
            host = os.path.join(scratch, "host.json")
            self.assertEqual(model_programs.described("there", host), host)
            whyio.assert_called_once_with("calibrate", "-q", "there", "-o", host)
            whyio.reset_mock()
            with open(host, "x", encoding="ascii"):
                self.assertEqual(model_programs.described("there", host), host)
            whyio.assert_not_called()


if __name__ == "__main__":
    unittest.main()
