/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/runner.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Of the one run that this program is. */
static struct {
    const char *program;
    uint64_t seed;
    uint64_t steps;
} now;

void sim_fail(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    fprintf(stderr, "seed %" PRIu64 ": ", now.seed);
    vfprintf(stderr, fmt, list);
    va_end(list);
    fprintf(stderr, "\nrepeat: %s --seed=%" PRIu64 " --steps=%" PRIu64 " --log\n", now.program,
            now.seed, now.steps);
    exit(1);
}

void sim_total(struct sim_totals *totals, const char *name, uint64_t value)
{
    unsigned i = 0;
    while (i < totals->count && strcmp(totals->names[i], name) != 0) {
        i++;
    }
    if (i == sizeof(totals->names) / sizeof(totals->names[0])) {
        return;
    }
    totals->count += i == totals->count;
    totals->names[i] = name;
    totals->values[i] += value;
}

enum wio_wire_auth sim_auth_with_key(void)
{
    return wio_link_keys_begin(NULL) == WIO_OK ? WIO_WIRE_AUTH_KEY : WIO_WIRE_AUTH_OPEN;
}

static uint64_t number_of(const char *text, const char *option)
{
    char *end = NULL;
    uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0') {
        fprintf(stderr, "%s: expected a number, found '%s'\n", option, text);
        exit(2);
    }
    return value;
}

static void parse(struct sim_arguments *arguments, const char *text)
{
    struct {
        const char *option;
        uint64_t *value;
    } const options[] = {
        {"--seed=", &arguments->seed},
        {"--seeds=", &arguments->seeds},
        {"--seconds=", &arguments->seconds},
        {"--steps=", &arguments->steps},
    };
    if (strcmp(text, "--table") == 0) {
        arguments->has_table = true;
        return;
    }
    if (strcmp(text, "--log") == 0) {
        arguments->log = stdout;
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        size_t size = strlen(options[i].option);
        if (strncmp(text, options[i].option, size) == 0) {
            *options[i].value = number_of(text + size, options[i].option);
            return;
        }
    }
    fprintf(stderr, "usage: [--seed=N] [--seeds=N] [--seconds=N] [--steps=N] [--log] [--table]\n");
    exit(2);
}

int sim_main(int argc, char **argv, sim_run_seed *run, void (*print_table)(void))
{
    struct sim_arguments arguments = {.seed = 1, .steps = 10000};
    struct sim_totals totals = {0};
    bool has_seed = false;
    uint64_t begin_ns = wio_clock_mono_ns();
    uint64_t done = 0;
    for (int i = 1; i < argc; i++) {
        parse(&arguments, argv[i]);
        has_seed |= strncmp(argv[i], "--seed=", strlen("--seed=")) == 0;
    }
    if (arguments.seeds == 0 && arguments.seconds == 0) {
        arguments.seeds = has_seed ? 1 : 20;
    }
    now.program = argv[0];
    now.steps = arguments.steps;
    while ((arguments.seeds == 0 || done < arguments.seeds) &&
           (arguments.seconds == 0 ||
            wio_clock_mono_ns() - begin_ns < arguments.seconds * UINT64_C(1000000000))) {
        now.seed = arguments.seed + done;
        run(&arguments, now.seed, &totals);
        done++;
    }
    printf("%" PRIu64 " seeds from %" PRIu64 "\n", done, arguments.seed);
    for (unsigned i = 0; i < totals.count; i++) {
        printf("%16" PRIu64 " %s\n", totals.values[i], totals.names[i]);
    }
    if (arguments.has_table && print_table != NULL) {
        print_table();
    }
    return 0;
}
