# SPDX-License-Identifier: Apache-2.0
"""Pictures of a series: seconds so far, measured and by each model, with the dirty amount below."""
import os
import shutil
import subprocess

from model_errors import MIB, MODELS, Skipped

# Line and text of each curve; colours that differ for those who do not see red and green apart.
STYLES = {
    "measured": 'lc rgb "#000000" lw 3',
    "kernel": 'lc rgb "#0072b2" lw 2',
    "cawl": 'lc rgb "#d55e00" lw 2 dt "--"',
    "naive": 'lc rgb "#999999" lw 2 dt "."',
}
SCRIPT = """
set terminal svg size 760,620 dynamic enhanced font "sans,14" background rgb "white"
set output "{output}"
set multiplot layout 2,1 title "{title}"
set lmargin 12
set rmargin 3
set grid lc rgb "#dddddd"
set xrange [0:{written}]
set key outside center top horizontal Left reverse samplen 3
set ylabel "cost so far, s"
set format x ""
set bmargin 0.5
set yrange [0:{seconds}]
plot {cost_curves}
set tmargin 0.5
set bmargin 4
set format x "%g"
set xlabel "written, GiB"
set ylabel "dirty, MiB"
set yrange [0:{dirty}]
unset key
{limits}
plot {dirty_curves}
unset multiplot
"""


def column(series, values, running):
    """Text of the points (GiB written so far, value) of the operations that count."""
    lines, written, total = [], 0, 0.0
    for line, value in list(zip(series.ops, values))[series.first:]:
        written += line["size"]
        total = total + value if running else value / MIB
        lines.append(f"{written / (1 << 30):.6f} {total:.6f}\n")
    return "".join(lines)


def curves(blocks):
    return ", ".join(f'"{path}" with lines title "{name}" {STYLES[name]}' for name, path in blocks.items())


def limits_text(host):
    """The limits as lines across, named where no curve passes."""
    levels = (("background limit", host["limit_bg"], "0.99", "right"),
              ("free running ends", (host["limit_bg"] + host["limit_hard"]) / 2, "0.01", "left"),
              ("hard limit", host["limit_hard"], "0.01", "left"))
    lines = []
    for name, level, place, side in levels:
        lines.append(f'set arrow from graph 0, first {level / MIB} to graph 1, first {level / MIB} '
                     'nohead lc rgb "#cc79a7" dt "-"')
        lines.append(f'set label "{name}" at graph {place}, first {level / MIB} {side} offset 0,0.5 '
                     'font "sans,11" tc rgb "#cc79a7"')
    return "\n".join(lines)


def draw(series, predictions, path, scratch):
    """`predictions`: by model. Writes the SVG `path`."""
    if shutil.which("gnuplot") is None:
        raise Skipped("gnuplot is not installed")
    costs = {"measured": series.costs, **{model: predictions[model].costs for model in MODELS}}
    dirty = {model: predictions[model].dirty for model in ("kernel", "cawl")}
    if series.dirty is not None:
        dirty = {"measured": series.dirty, **dirty}
    files = {True: {}, False: {}}
    for running, values in ((True, costs), (False, dirty)):
        for name, numbers in values.items():
            files[running][name] = os.path.join(scratch, f"{name}-{running}.dat")
            with open(files[running][name], "w", encoding="ascii") as file:
                file.write(column(series, numbers, running))
    counted = slice(series.first, None)
    shown = max(sum(costs[name][counted]) for name in ("measured", "kernel", "cawl"))
    script = SCRIPT.format(
        output=path, title=series.what, cost_curves=curves(files[True]),
        dirty_curves=curves(files[False]), limits=limits_text(series.host),
        written=sum(line["size"] for line in series.ops[counted]) / (1 << 30),
        seconds=1.35 * shown, dirty=1.12 * series.host["limit_hard"] / MIB)
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
