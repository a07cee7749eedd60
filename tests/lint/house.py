#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that a compiler does not know. Each fault comes with the right way.

usage: house.py ROOT            check the tree
       house.py --self-test     check the rules

A line that must break a rule says so: `/* house: allow <rule>: why */` on it or on the line before.
"""
import os
import re
import subprocess
import sys

SOURCE = (".c", ".h", ".def")
LONG, TOO_LONG, TOO_LONG_TEST = 300, 600, 1000  # lines of a file: mentioned, refused


class Rule:
    """A pattern that must not be found in some files."""

    def __init__(self, name, files, pattern, advice, unless=None):
        self.name = name
        self.files = re.compile(files)
        self.pattern = re.compile(pattern)
        self.unless = re.compile(unless) if unless else None
        self.advice = advice

    def applies_to(self, path):
        return self.files.search(path) and not (self.unless and self.unless.search(path))


RULES = [
    Rule("exit", r"^src/.*\.[ch]$", r"^\s+.*(?<![\w.>])(exit|_exit|abort|quick_exit|err|errx)\s*\(",
         "a library never ends the process: return a status"),
    Rule("print", r"^src/.*\.[ch]$",
         r"^\s+.*(?<![\w.>])(printf|puts|putchar|perror|warnx?)\s*\(|^\s+.*\b(fprintf|fputs|fputc|fwrite)\s*\([^;]*"
         r"\b(stdout|stderr)\b",
         "only tools/ prints: fill struct wio_error, or write to a FILE that the caller gives"),
    Rule("banned", r"^(src|tools|include)/.*\.[ch]$",
         r"^\s+.*(?<![\w.>])(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|alloca|sscanf|"
         r"tmpnam|mktemp)\s*\(",
         "use snprintf, base/fmt.h, base/text.h: they know the size and report a bad number"),
    Rule("threads", r"^src/.*\.[ch]$",
         r"^\s+.*(?<![\w.>])(strerror|strsignal|localtime|gmtime|ctime|asctime|getpwnam|getpwuid)\s*\(",
         "it keeps its answer in one place for all threads: use the form that ends in _r"),
    Rule("memcpy", r"^src/(trace|ring|seal)/.*(read|decode|parse|load|walk).*\.c$",
         r"\bmem(cpy|move)\s*\([^,]*,[^,]*[\w)\]] \+ ",
         "take untrusted bytes with wio_buf_bytes, which checks the bounds, and copy those"),
    Rule("tab", r"\.(c|h|def|py|sh|md)$", r"^[ ]*\t(?!$)", "indent by spaces"),
    Rule("width", r"\.(c|h)$", r"^.{101,}$", "100 columns"),
    Rule("blank", r"\.(c|h|def|py|sh)$|(^|/)meson\.build$", r"[ \t]+$", "no blanks at the end"),
    Rule("gnu", r"\.[ch]$", r"^\s*#\s*define\s+_GNU_SOURCE", "the build defines _GNU_SOURCE"),
    Rule("global", r"^src/.*\.c$",
         r"^static (?!const\b|inline\b|_Thread_local\b|enum \w+ status\b)"
         r"(?:_Atomic |volatile )?(?:struct \w+|unsigned|int|char|bool|size_t|u?int\d+_t|pid_t)[ *]+"
         r"\w+(\[[^]]*\])*( = [^;(]*)?;",
         "no state outside src/capture and src/base/log.c: keep it in an object that is passed on",
         unless=r"^src/(capture/|base/log\.c$)"),
    Rule("clock", r"^src/(base|capture|edges|record|ring|seal|throttle|trace)/.*\.c$",
         r"^\s+.*(?<![\w.>])(clock_gettime|gettimeofday|clock_nanosleep|nanosleep|usleep|time)\s*\(",
         "a preloaded library may change libc's clocks: use base/clock.h, which has the kernel's own"),
    Rule("cloexec", r"^(src|tools)/.*\.c$", r"\bopen(at)?\s*\([^;]*\bO_(RDONLY|WRONLY|RDWR)\b(?![^;]*CLOEXEC)"
         r"[^;]*;", "O_CLOEXEC: descriptors must not leak into a program that is started",
         unless=r"^src/capture/"),
    Rule("create", r"^src/(trace|seal|edges|record|throttle)/.*\.c$", r"\bO_CREAT\b(?!.*\bO_EXCL\b)",
         "O_EXCL | O_NOFOLLOW: in a directory that others write to, the name may be theirs",
         unless=r"^src/throttle/rules/run_ops\.c$"),
    Rule("argp", r"^tools/.*\.c$", r"\bargp_parse\s*\(",
         "cmd_parse (options.h): its result is the exit status where arguments cannot be read",
         unless=r"^tools/whyio/options\.c$"),
    Rule("bisect", r"^(src|tools)/.*\.[ch]$", r"= (\w+) \+ \(\w+ - \1\) / 2;",
         "WIO_FIRST of base/bisect.h is the binary search", unless=r"^src/base/bisect\.h$"),
]
ALLOW = re.compile(r"house: allow ([\w, ]+):")

# Of src/replay, whose target may hold links that a trace has made: calls that look up a name, and what their arguments
# must say. `proc` is the name of a descriptor below /proc/self/fd; a text in quotes is no name of a trace.
BENEATH = "replay follows no link out of its target: %s, or rp_root_openat and its descriptor"
BENEATH_AT = {
    "openat": (r"\bO_(NOFOLLOW|EXCL)\b", "O_NOFOLLOW or O_EXCL"),
    "linkat": (r"\bproc\b|\bAT_EMPTY_PATH\b", "link a descriptor"),
    **{name: (r"\bAT_(SYMLINK_NOFOLLOW|EMPTY_PATH)\b|\bproc", "AT_SYMLINK_NOFOLLOW or AT_EMPTY_PATH")
       for name in ("fstatat", "statx", "faccessat", "fchmodat", "fchownat", "utimensat", "scandirat")}}
BY_PATH = ("open creat fopen freopen opendir scandir mkdir mknod mkfifo link symlink rename unlink rmdir remove truncate "
           "chmod chown lchown utime utimes lutimes stat lstat access euidaccess readlink realpath statfs statvfs chdir "
           "getxattr setxattr listxattr removexattr lgetxattr lsetxattr llistxattr lremovexattr").split()
LOOKS_UP = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join([*BENEATH_AT, *BY_PATH]))


def tracked(root):
    """The files of the project: what git knows, or all where there is no git (a tarball)."""
    try:
        names = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return [name for name in names.decode().split("\0")
                if name and os.path.isfile(os.path.join(root, name))]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for directory, below, names in os.walk(root):
            below[:] = [name for name in below if not name.startswith((".", "build"))]
            found += [os.path.relpath(os.path.join(directory, name), root) for name in names]
        return found


def without_comments(lines):
    """The code of C lines, with comments and the insides of strings blanked."""
    text = "\n".join(lines)
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    blanked = pattern.sub(lambda m: '""' if m.group()[0] == '"' else re.sub(r"[^\n]", "", m.group()),
                          text)
    return blanked.split("\n")


def allowed(lines, index):
    found = set()
    for line in lines[max(0, index - 1):index + 1]:
        match = ALLOW.search(line)
        if match:
            found |= {name.strip() for name in match.group(1).split(",")}
    return found


def check_rules(path, lines):
    rules = [rule for rule in RULES if rule.applies_to(path)]
    code = without_comments(lines) if path.endswith(SOURCE) else lines
    for rule in rules:
        for index, line in enumerate(lines if rule.name in ("width", "tab", "blank") else code):
            if rule.pattern.search(line) and rule.name not in allowed(lines, index):
                yield f"{path}:{index + 1}: {rule.name}: {rule.advice}"


def arguments(text, begin):
    """What stands between the parenthesis at `begin` and the one that closes it."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1:at]
    return text[begin + 1:]


def check_beneath(path, lines):
    text = "\n".join(without_comments(lines))
    for match in LOOKS_UP.finditer(text):
        given = arguments(text, match.end() - 1)
        pattern, advice = BENEATH_AT.get(match.group(1), (r'^\s*(""|proc\b|proc_name\b)', "no calls by path"))
        line = text.count("\n", 0, match.start())
        if not re.search(pattern, given) and "beneath" not in allowed(lines, line):
            yield f"{path}:{line + 1}: beneath: {BENEATH % advice}"


def check_file(path, lines):
    """All faults of one file."""
    yield from check_rules(path, lines)
    if re.match(r"src/replay/.*\.c$", path):
        yield from check_beneath(path, lines)
    if path.endswith(SOURCE + (".py", ".sh")) and not any("SPDX-License-Identifier: Apache-2.0" in line
                                                          for line in lines[:4]):
        yield f"{path}:1: spdx: the first line is SPDX-License-Identifier: Apache-2.0"
    most = TOO_LONG_TEST if path.startswith("tests/") else TOO_LONG
    if path.endswith((".c", ".h")) and len(lines) > most:
        yield f"{path}: length: {len(lines)} lines: one idea per file, at most {most}"


def check_golden(paths):
    """Files of tests/cli belong to a case, and each case is run."""
    cli = [path for path in paths if re.match(r"tests/cli/[^/]+$", path)]
    cases = {path[:-len(".sh")] for path in cli if path.endswith(".sh")}
    for path in cli:
        match = re.match(r"(.*)\.(exit|std(out|err)\.(exact|glob))$", path)
        if match and match.group(1) not in cases:
            yield f"{path}: golden: there is no case {match.group(1)}.sh"
    with open("tests/cli/meson.build", encoding="utf-8") as file:
        listed = set(re.findall(r"'(\w+)'", file.read()))
    for case in sorted(cases):
        if os.path.basename(case) not in listed:
            yield f"{case}.sh: golden: name it in tests/cli/meson.build, else nobody runs it"


def check_security():
    """SECURITY.md names tests that exist."""
    with open("SECURITY.md", encoding="utf-8") as file:
        named = set(re.findall(r"`(tests/[^`]*)`", file.read()))
    for path in sorted(named):
        if not os.path.exists(path):
            yield f"SECURITY.md: security: there is no {path}"
    if not named:
        yield "SECURITY.md: security: name the test that shows each line"


CASES = [  # (path, line, rule or None)
    ("src/trace/a.c", "    exit(1);", "exit"),
    ("src/trace/a.c", "    /* exit(1); */", None),
    ("src/trace/a.c", '    fail("exit(1)");', None),
    ("src/trace/a.c", "    ops->exit(1);", None),
    ("src/trace/a.c", "    abort(); /* house: allow exit: heap is broken */", None),
    ("tools/whyio/a.c", "    exit(1);", None),
    ("src/trace/a.c", '    printf("%d", n);', "print"),
    ("src/trace/a.c", '    fprintf(stderr, "%d", n);', "print"),
    ("src/report/a.c", '    fprintf(out, "%d", n);', None),
    ("src/trace/a.c", "    snprintf(text, 3, x);", None),
    ("src/trace/a.c", "    sprintf(text, x);", "banned"),
    ("src/trace/a.c", "    n = atoi(text);", "banned"),
    ("src/trace/a.c", "    text = strerror(errno);", "threads"),
    ("src/trace/a.c", "    text = strerror_r(errno, buffer, 3);", None),
    ("src/trace/segment_read.c", "    memcpy(&n, data + at, 4);", "memcpy"),
    ("src/trace/segment_read.c", "    memcpy(name, taken, bytes + 1);", None),
    ("src/trace/segment_write.c", "    memcpy(&n, data + at, 4);", None),
    ("src/capture/a.c", "CAP_EXPORT int printf(const char *format, ...)", None),
    ("src/trace/a.c", "\tn = 1;", "tab"),
    ("src/trace/a.c", "x" * 101, "width"),
    ("src/trace/a.c", "x" * 100, None),
    ("src/trace/a.c", "n = 1; ", "blank"),
    ("src/trace/a.c", "#define _GNU_SOURCE", "gnu"),
    ("src/trace/a.c", "static int counter;", "global"),
    ("src/trace/a.c", "static struct wio_map cache = {0};", "global"),
    ("src/trace/a.c", "static const int table[] = {1};", None),
    ("src/trace/a.c", "static int count(void);", None),
    ("src/trace/a.c", "static int count(int n)", None),
    ("src/capture/a.c", "static int counter;", None),
    ("src/trace/a.c", "    clock_gettime(CLOCK_REALTIME, &now);", "clock"),
    ("src/record/a.c", "    now = time(NULL);", "clock"),
    ("src/seal/rings/a.c", "    now = time(NULL);", "clock"),
    ("src/capture/a.c", "    CAP_REAL(clock_nanosleep)(clock, flags, time, rest);", None),
    ("src/calibrate/a.c", "    clock_gettime(CLOCK_REALTIME, &now);", None),
    ("src/trace/a.c", "    fd = open(path, O_RDONLY);", "cloexec"),
    ("src/trace/a.c", "    fd = open(path, O_RDONLY | O_CLOEXEC);", None),
    ("src/trace/a.c", "    int flags = O_RDWR | O_CREAT | O_CLOEXEC;", "create"),
    ("src/trace/a.c", "    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;", None),
    ("src/throttle/hosts/a.c", "    int flags = O_RDWR | O_CREAT | O_CLOEXEC;", "create"),
    ("src/model/a.c", "    int flags = O_RDWR | O_CREAT | O_CLOEXEC;", None),
    ("tools/whyio/cmd_a.c", "    argp_parse(&argp, argc, argv, 0, NULL, &args);", "argp"),
    ("tools/whyio/options.c", "    argp_parse(&argp, argc, argv, 0, NULL, &args);", None),
    ("src/trace/a.c", "    size_t middle = low + (high - low) / 2;", "bisect"),
    ("src/trace/a.c", "    double left = low + (high - low) / 3;", None),
    ("src/trace/a.c", "    moment = (int64_t)(sent + (got - sent) / 2) - answer;", None),
    ("src/base/bisect.h", "    size_t i = low + (high - low) / 2;", None),
    ("src/replay/a.c", "    fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);", "beneath"),
    ("src/replay/a.c", "    fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f(0666));", None),
    ("src/replay/a.c", "    fd = openat(dir, f(name),\n                O_RDONLY | O_NOFOLLOW | O_CLOEXEC);", None),
    ("src/replay/a.c", "    fd = rp_root_openat(root, name, O_RDONLY);", None),
    ("src/replay/a.c", "    fd = open(path, O_RDONLY | O_CLOEXEC);", "beneath"),
    ("src/replay/a.c", '    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);', None),
    ("src/replay/a.c", "    fstatat(dir, name, &st, 0);", "beneath"),
    ("src/replay/a.c", "    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);", None),
    ("src/replay/a.c", "    linkat(dir, name, to, other, AT_SYMLINK_FOLLOW);", "beneath"),
    ("src/replay/a.c", "    linkat(AT_FDCWD, proc, to, other, AT_SYMLINK_FOLLOW);", None),
    ("src/replay/a.c", "    chmod(proc_name(fd, proc), 0700);", None),
    ("src/replay/a.c", "    truncate(path, 0);", "beneath"),
    ("src/replay/a.c", "    ops->open(path);", None),
    ("src/trace/a.c", "    fstatat(dir, name, &st, 0);", None),
]


def self_test():
    wrong = 0
    for path, line, expected in CASES:
        lines = ["/* SPDX-License-Identifier: Apache-2.0 */", *line.split("\n")]
        names = [text.split(": ")[1] for text in check_file(path, lines)]
        if names != ([expected] if expected else []):
            print(f"self-test: {path}: {line!r}: expected {expected}, found {names}", file=sys.stderr)
            wrong = 1
    if not list(check_file("src/trace/a.c", ["int a;"])) or not list(
            check_file("src/a.c", ["/* SPDX-License-Identifier: Apache-2.0 */"] * (TOO_LONG + 1))):
        print("self-test: a missing SPDX line or a long file was not seen", file=sys.stderr)
        wrong = 1
    print(f"{len(CASES)} cases")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1]
    os.chdir(root)
    paths = sorted(tracked("."))
    faults = list(check_golden(paths)) + list(check_security())
    for path in paths:
        if not path.endswith(SOURCE + (".py", ".sh", ".scd", ".md", "meson.build")):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        faults += check_file(path, lines)
        if path.endswith((".c", ".h")) and len(lines) > LONG:
            print(f"note: {path}: {len(lines)} lines; {LONG} are easier to read")
    for text in faults:
        print(text, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
