#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the ranks of a trace over time, as an SVG: `whyio dump DIR | timeline.py > picture.svg`.

One lane per rank (or process, where there are no ranks); a bar is one operation, as long as it
took and coloured by what it did. The picture in the README is made by it.
"""
import argparse
import html
import json
import sys

WIDTH, LEFT, RIGHT, TOP, LANE, GAP = 960, 76, 16, 64, 40, 12
# Colours that the colour-blind can tell apart (Okabe and Ito).
KINDS = (
    ("write", "#0072b2", ("write", "pwrite", "writev", "pwritev", "aio_write", "uring_write",
                          "mmap_write", "sendfile", "copy_file_range", "splice")),
    ("read", "#009e73", ("read", "pread", "readv", "preadv", "aio_read", "uring_read")),
    ("sync", "#d55e00", ("fsync", "fdatasync", "sync_file_range", "syncfs", "msync")),
    ("all else, waits too", "#999999", None),
)


def kind_of(op):
    for name, colour, ops in KINDS:
        if ops is None or op in ops:
            return name, colour
    return None


def read_events(file, prefix):
    events = [json.loads(line) for line in file if line.strip()]
    # What did not return, or stdio served from its buffer, has no duration.
    return [dict(e, dur_ns=e["dur_ns"] or 0) for e in events
            if "op" in e and (e["path"] or "").startswith(prefix)]


def lane_of(event):
    return ("rank", event["rank"]) if event["rank"] is not None else ("process", event["pid"])


def nice_step(span):
    """A round step that gives five to ten marks."""
    step = 1.0
    while span / step < 5:
        step /= 10
    while span / step > 10:
        step *= 2 if span / step <= 20 else 5 if span / step <= 50 else 10
    return step


class Picture:
    def __init__(self, events, title):
        self.events, self.title = events, title
        self.lanes = sorted({lane_of(e) for e in events})
        self.begin = min(e["t_ns"] for e in events)
        self.span = max(1, max(e["t_ns"] + e["dur_ns"] for e in events) - self.begin)
        self.height = TOP + len(self.lanes) * (LANE + GAP) + 34
        self.parts = []

    def x(self, ns):
        return LEFT + (WIDTH - LEFT - RIGHT) * (ns - self.begin) / self.span

    def text(self, x, y, text, size=13, anchor="start", colour="#333333"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
                          f'text-anchor="{anchor}">{html.escape(text)}</text>')

    def bar(self, x, y, width, height, colour, tip=""):
        inner = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.parts.append(f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{height}" '
                          f'fill="{colour}">{inner}</rect>')

    def legend(self):
        x = float(WIDTH - RIGHT)
        for name, colour, _ in reversed(KINDS):
            x -= 7.2 * len(name) + 4
            self.text(x, 50, name)
            x -= 18
            self.bar(x, 40, 12, 12, colour)
            x -= 14

    def axis(self):
        bottom = self.height - 30
        step = nice_step(self.span / 1e6)
        digits = max(0, len(f"{step:.6f}".rstrip("0").split(".")[1]))
        for number in range(int(self.span / 1e6 / step) + 1):
            x = self.x(self.begin + number * step * 1e6)
            self.parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom}" '
                              'stroke="#dddddd"/>')
            self.text(x, bottom + 18, f"{number * step:.{digits}f} ms", 12, "middle", "#666666")

    def draw(self):
        self.parts.append(f'<rect width="{WIDTH}" height="{self.height}" fill="#ffffff"/>')
        self.text(16, 26, self.title, 15)
        self.legend()
        self.axis()
        for number, lane in enumerate(self.lanes):
            y = TOP + number * (LANE + GAP)
            self.bar(LEFT, y, WIDTH - LEFT - RIGHT, LANE, "#f4f4f4")
            self.text(LEFT - 10, y + LANE / 2 + 5, f"{lane[0]} {lane[1]}", 13, "end")
            for event in (e for e in self.events if lane_of(e) == lane):
                self.operation(event, y)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'width="{WIDTH}" height="{self.height}" font-family="Helvetica, Arial, sans-serif">',
            *self.parts, "</svg>"]) + "\n"

    def operation(self, event, y):
        name, colour = kind_of(event["op"])
        size = f", {event['size']} bytes" if event.get("size") else ""
        tip = f"{event['op']}{size}, {event['dur_ns'] / 1e3:.1f} us"
        height = LANE if name != KINDS[-1][0] else LANE // 2
        self.bar(self.x(event["t_ns"]), y + (LANE - height) / 2,
                 max(0.7, (WIDTH - LEFT - RIGHT) * event["dur_ns"] / self.span), height, colour, tip)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--path", default="", metavar="PREFIX", help="only paths that begin so")
    parser.add_argument("--title", default="", help="a line on top")
    options = parser.parse_args()
    events = read_events(sys.stdin, options.path)
    if not events:
        print("timeline: no operation to draw", file=sys.stderr)
        return 1
    sys.stdout.write(Picture(events, options.title).draw())
    return 0


if __name__ == "__main__":
    sys.exit(main())
