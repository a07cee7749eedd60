# SPDX-License-Identifier: Apache-2.0
"""The text of `strace -f -y -v -s 0 -o FILE`, as a list of calls.

A call that other processes interrupted stands in two lines ("<unfinished ...>", "<... resumed>");
here it is one, with the number of the line that it began in and of the line that it ended in.
"""
import re
from dataclasses import dataclass

PID = re.compile(r"(\d+)\s+(.*)")
NAME = re.compile(r"(\w+)\(")
RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
UNFINISHED = " <unfinished ...>"
RESULT = re.compile(r"\s*= (-?\w+|\?)(?:<(.*)>)?(?:\(deleted\))?(?: ([A-Z]\w+) \(.*\))?")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "\\": "\\", '"': '"'}


@dataclass
class Call:
    pid: int
    begin: int      # number of the line that it began in
    end: int
    name: str
    args: list      # texts as strace wrote them
    result: int     # None where there is none (exit)
    error: str      # "ENOENT", "" where it succeeded
    path: str = ""  # of the descriptor that it returned


def unescape(text):
    """The text of a C string, without its quotes: octal and letter escapes undone."""
    def one(match):
        code = match.group(1)
        return ESCAPES.get(code) or chr(int(code, 8))
    raw = re.sub(r"\\([0-7]{1,3}|.)", one, text)
    return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def quoted(arg):
    """A string argument, None where it is no string (NULL, an address)."""
    match = re.match(r'"((?:[^"\\]|\\.)*)"', arg)
    return unescape(match.group(1)) if match else None


def descriptor(arg):
    """`3</tmp/x>` -> (3, "/tmp/x"); AT_FDCWD</tmp> -> (None, "/tmp"); no path -> ""."""
    match = re.match(r"(-?\d+|AT_FDCWD)(?:<(.*)>)?(?:\(deleted\))?$", arg)
    if not match:
        return None, ""
    path = unescape(match.group(2) or "")
    number = None if match.group(1) == "AT_FDCWD" else int(match.group(1))
    return number, path if path.startswith("/") else ""


def closing(text, start):
    """Where the bracket that is open at `start` closes, and where its top-level commas are."""
    depth, commas, i = 0, [], start
    while i < len(text):
        char = text[i]
        if char == '"':
            i = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, i).end() - 1
        elif char == "<" and (text[i - 1].isdigit() or text[i - 1] == "D"):
            i = text.index(">", i)
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                return i, commas
            depth -= 1
        elif char == "," and depth == 0:
            commas.append(i)
        i += 1
    raise ValueError(f"no closing bracket: {text[:80]}")


def split_args(text, start):
    """The arguments that begin at `start`, and where the text behind the bracket begins."""
    end, commas = closing(text, start)
    edges = [start - 1] + commas + [end]
    args = [text[a + 1:b].strip() for a, b in zip(edges, edges[1:])]
    return ([] if args == [""] else args), end + 1


def parse_call(pid, begin, end, text):
    match = NAME.match(text)
    if not match:
        return None
    args, behind = split_args(text, match.end())
    result = RESULT.match(text, behind)
    if not result:
        return None
    value, path, error = result.groups()
    number = None if value == "?" else int(value, 0)
    return Call(pid, begin, end, match.group(1), args, number, error or "",
                unescape(path or ""))


def calls(lines):
    """All calls, in the order in which they ended."""
    pending = {}
    for number, line in enumerate(lines):
        pid_text = PID.match(line.rstrip("\n"))
        if not pid_text:
            continue
        pid, text = int(pid_text.group(1)), pid_text.group(2)
        begin = number
        resumed = RESUMED.match(text)
        if resumed:
            if pid not in pending:
                continue
            begin, head = pending.pop(pid)
            text = head + resumed.group(2)
        elif text.endswith(UNFINISHED):
            pending[pid] = (number, text.removesuffix(UNFINISHED))
            continue
        call = parse_call(pid, begin, number, text)
        if call:
            yield call
