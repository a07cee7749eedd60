# SPDX-License-Identifier: Apache-2.0
"""What the accuracy suite has measured, as tables for docs/BENCHMARKS.md."""
import collections
import os
import statistics

import storage
from replay_programs import PROGRAMS

AVERAGE_TARGET = 4
ITSELF = "itself"

# times: of the runs of the program and of each mode, in seconds
Cell = collections.namedtuple("Cell", "program source target times")


def error(cell, mode):
    """Of the median time, in percent."""
    return 100 * (statistics.median(cell.times[mode]) / statistics.median(cell.times[ITSELF]) - 1)


def spread(times):
    """Half of the range, in percent of the median."""
    return 50 * (max(times) - min(times)) / statistics.median(times)


def modes_of(cells):
    return [mode for mode in dict.fromkeys(mode for cell in cells for mode in cell.times) if mode != ITSELF]


def each_pair(cells, modes):
    yield "| program | recorded on | replayed on | itself, s | " + " | ".join(
        f"{mode}, error %" for mode in modes) + " |"
    yield "|---|---|---|---|" + "---|" * len(modes)
    for cell in cells:
        itself = cell.times[ITSELF]
        shown = [f"{error(cell, mode):+.1f} ± {spread(cell.times[mode]):.0f}" for mode in modes]
        yield f"| {cell.program} | {cell.source} | {cell.target} | {statistics.median(itself):.3f} " \
              f"± {spread(itself):.0f} % | {' | '.join(shown)} |"


def worst(cells, modes):
    yield "| worst error, % | target | " + " | ".join(modes) + " |"
    yield "|---|---|" + "---|" * len(modes)
    for program in dict.fromkeys(cell.program for cell in cells):
        values = [max(abs(error(cell, mode)) for cell in cells if cell.program == program)
                  for mode in modes]
        target = PROGRAMS[program].target
        yield f"| {program} | {f'<= {target}' if target else ''} | " + " | ".join(
            f"{value:.1f}" for value in values) + " |"
    average = [statistics.mean(abs(error(cell, mode)) for cell in cells) for mode in modes]
    yield f"| average over all | < {AVERAGE_TARGET} | " + " | ".join(
        f"{value:.1f}" for value in average) + " |"


def tables(cells, command, ranks, systems):
    modes = modes_of(cells)
    runs = sorted({len(times) for cell in cells for times in cell.times.values()})
    yield f"\n    {command}\n"
    yield f"{ranks} ranks, {os.cpu_count()} processors, {' to '.join(map(str, runs))} runs each. Storage:"
    yield "; ".join(f"*{name}*: {storage.TEXTS[name]}" for name in systems) + ".\n"
    yield from each_pair(cells, modes)
    yield ""
    yield from worst(cells, modes)
    yield "\nThe spread (±) is half of the range of the runs in percent of their median."


def missed(cells):
    """Targets that the causal replay missed."""
    for cell in cells:
        target = PROGRAMS[cell.program].target
        if target is not None and abs(error(cell, "causal")) > target:
            yield f"{cell.program} {cell.source} -> {cell.target}: {error(cell, 'causal'):+.1f} %, " \
                  f"target {target} %"
    if cells and statistics.mean(abs(error(cell, "causal")) for cell in cells) >= AVERAGE_TARGET:
        yield f"the average is not below {AVERAGE_TARGET} %"


def write(path, marker, text):
    """Between the markers of the document."""
    begin, end = (f"<!-- {marker}: {word} -->\n" for word in ("begin", "end"))
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin)
    after = rest.split(end)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + text + end + after)
