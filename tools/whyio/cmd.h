/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands of whyio.
 *
 * How to add a command `foo`:
 *   1. Write cmd_foo.c with `int cmd_foo(int argc, char **argv)`: options (argp, with the common
 *      child of options.h) -> one library call -> render -> release. It returns the exit status
 *      (0 done, 1 the answer is no, 2 usage, 3 input unreadable or invalid, 4 internal);
 *      failures of the library go through cmd_fail(). cmd_info.c is the example to start from.
 *   2. Add one row to commands.def (this declares the function and enters it into main.c's table)
 *      and the file to meson.build.
 *   3. Write man/whyio-foo.1.scd, add it to man/meson.build; a test compares its options with
 *      `whyio foo --help`. Completion follows from --help (completions/whyio.bash).
 *      Values of an option that are names are completed there by hand.
 *   4. If it prints JSON: "schema": "whyio.foo/1" and docs/schema/foo.json.
 *   5. What it prints, byte by byte: tests/cli.
 *
 * `argv[0]` is "whyio foo", so messages of argp name the command. Nothing below tools/ prints or
 * exits; no analysis logic here.
 */
#ifndef WHYIO_CMD_H
#define WHYIO_CMD_H

#define WIO_COMMAND(name, summary) int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef WIO_COMMAND

#endif
