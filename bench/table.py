# SPDX-License-Identifier: Apache-2.0
"""Figures beside their targets, printed as a table that is also Markdown."""


class Table:
    """Rows of figures: what, value, unit, and a target that the value must not pass."""

    def __init__(self, title):
        self.title = title
        self.rows = []
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def add(self, what, value, unit, at_most=None, at_least=None, **others):
        """`value` None: could not be measured. `others`: columns of other tracers, as texts."""
        met, target = None, ""
        if at_most is not None:
            target = f"<= {at_most:g}"
            met = None if value is None else value <= at_most
        if at_least is not None:
            target = f">= {at_least:g}"
            met = None if value is None else value >= at_least
        self.rows.append({"section": self.title, "what": what, "value": value, "unit": unit,
                          "target": target, "met": met, **others})

    def show(self):
        columns = ["what"]
        for row in self.rows:
            columns += [name for name in row if name not in columns]
        columns = [c for c in columns if c not in ("section", "met", "target", "value", "unit")]
        columns += ["value", "unit", "target", "met"]
        lines = [columns] + [[text(row.get(c)) for c in columns] for row in self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
        print(f"\n### {self.title}\n")
        for number, line in enumerate(lines):
            print("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |")
            if number == 0:
                print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
        for note in self.notes:
            print(f"\n{note}")
        print(flush=True)


def text(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return value
