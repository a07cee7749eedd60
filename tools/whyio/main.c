/* SPDX-License-Identifier: Apache-2.0 */
/* whyio: finds the subcommand and runs it. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "messages.h"
#include "options.h"

enum { EXIT_USAGE = 2, EXIT_OUTPUT = 4 };

static const struct command {
    const char *name;
    char *full_name; /* argv[0] of the command: getopt and argp print it */
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
#define WIO_COMMAND(name, summary) {#name, (char[]){"whyio " #name}, cmd_##name, summary},
#include "commands.def"
#undef WIO_COMMAND
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* The nearest name, where it is near enough to be a slip of the finger. */
static const char *nearest_command(const char *name)
{
    const char *nearest = NULL;
    unsigned least = strlen(name) < 5 ? 2 : 3;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(commands); i++) {
        unsigned distance = wio_text_distance(name, commands[i].name);
        bool is_prefix = strncmp(name, commands[i].name, strlen(name)) == 0;
        if (distance < least || (is_prefix && nearest == NULL)) {
            nearest = commands[i].name;
            least = distance < least ? distance : least;
        }
    }
    return nearest;
}

static void print_help(FILE *out)
{
    fputs("Usage: whyio COMMAND [OPTION...] ...\n"
          "Record the I/O of an unmodified parallel program, look at it, perform it again.\n\n",
          out);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(commands); i++) {
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n  -?, --help   give this help list\n"
          "  --version    print the version\n\n"
          "'whyio COMMAND --help' tells the options of a command, 'man whyio' more.\n",
          out);
}

static int unknown_command(const char *name)
{
    const char *nearest = nearest_command(name);
    if (nearest != NULL) {
        cmd_say("'%s' is not a command, did you mean '%s'?", name, nearest);
    } else {
        cmd_say("'%s' is not a command, see 'whyio --help'", name);
    }
    return EXIT_USAGE;
}

/* Where a standard stream is closed, the next file that is opened would take its number, and
 * messages would go into it. What takes the place fails as a closed one does: it is open in the
 * other direction. Close-on-exec, so that a recorded command finds it closed as before. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int flags = (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd) {
            return; /* no /dev/null: nothing better can be done */
        }
    }
}

/* Results that did not reach their file are no results: `whyio info d > /dev/full` fails, and so
 * does --help, after which argp ends the process by itself. */
static void finish_output(void)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    failed |= fflush(stdout) != 0;
    if (failed && errno == 0) { /* of an earlier flush: the next one fails for the same reason */
        clearerr(stdout);
        (void)fputc('\n', stdout);
        (void)fflush(stdout);
    }
    if (failed) {
        cmd_say("cannot write to the standard output%s%s", errno != 0 ? ": " : "",
                errno != 0 ? strerror(errno) : "");
        _exit(EXIT_OUTPUT);
    }
}

static int run_command(int argc, char **argv)
{
    const char *name = argv[0];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("whyio " WIO_VERSION);
        return 0;
    }
    const struct command *command = find_command(name);
    if (command == NULL) {
        return unknown_command(name);
    }
    argv[0] = command->full_name;
    return command->run(argc, argv);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    messages_begin();
    if (atexit(finish_output) != 0) {
        return EXIT_OUTPUT;
    }
    argp_err_exit_status = EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    return run_command(argc - 1, argv + 1);
}
