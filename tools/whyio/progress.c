/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/text.h"

enum { BAR_CELLS = 20 };
#define SECOND_NS UINT64_C(1000000000)
#define REDRAW_NS (SECOND_NS / 10)

static bool is_wanted(const struct cmd_options *options)
{
    if (options->quiet) {
        return false;
    }
    const char *setting = wio_env_get(WIO_ENV_PROGRESS);
    if (setting != NULL && strcmp(setting, "on") == 0) {
        return true;
    }
    if (setting != NULL && strcmp(setting, "off") == 0) {
        return false;
    }
    return isatty(STDERR_FILENO) == 1;
}

void cmd_progress_init(struct cmd_progress *progress, const char *what,
                       const struct cmd_options *options)
{
    *progress = (struct cmd_progress){.what = what, .enabled = is_wanted(options)};
}

static void format_amount(char *text, size_t size, uint64_t amount, const char *unit)
{
    char number[WIO_TEXT_MAX];
    if (strcmp(unit, "bytes") == 0 || strcmp(unit, "B") == 0) {
        snprintf(text, size, "%s", wio_format_size(number, amount));
    } else {
        snprintf(text, size, "%s %s", wio_format_count(number, amount), unit);
    }
}

static void format_bar(char *bar, uint64_t done, uint64_t total)
{
    unsigned cells = (unsigned)((double)done / (double)total * BAR_CELLS);
    cells = cells > BAR_CELLS ? BAR_CELLS : cells;
    memset(bar, ' ', BAR_CELLS);
    memset(bar, '=', cells);
    if (cells < BAR_CELLS) {
        bar[cells] = '>';
    }
    bar[BAR_CELLS] = '\0';
}

/* Past stderr, which would escape what moves the cursor (messages.h). */
static void draw(struct cmd_progress *progress, uint64_t done, uint64_t total, const char *unit,
                 uint64_t now_ns)
{
    char amount[2 * WIO_TEXT_MAX];
    char rate_text[2 * WIO_TEXT_MAX];
    double elapsed_s = (double)(now_ns - progress->start_ns) / (double)SECOND_NS;
    double rate = (double)(done - progress->start_done) / elapsed_s;
    format_amount(amount, sizeof(amount), done, unit);
    format_amount(rate_text, sizeof(rate_text), (uint64_t)rate, unit);
    if (total == 0 || total < done) {
        dprintf(STDERR_FILENO, "\r%s  %s  %s/s\033[K", progress->what, amount, rate_text);
    } else {
        char bar[BAR_CELLS + 1];
        char left[WIO_TEXT_MAX] = "?";
        format_bar(bar, done, total);
        if (rate >= 1) {
            snprintf(left, sizeof(left), "%.0f s", (double)(total - done) / rate);
        }
        dprintf(STDERR_FILENO, "\r%s [%s] %3.0f %%  %s  %s/s  %s left\033[K", progress->what, bar,
                (double)done / (double)total * 100, amount, rate_text, left);
    }
    progress->is_drawn = true;
    progress->drawn_ns = now_ns;
}

void cmd_progress_update(void *arg, uint64_t done, uint64_t total, const char *unit)
{
    struct cmd_progress *progress = arg;
    if (!progress->enabled) {
        return;
    }
    uint64_t now_ns = wio_clock_mono_ns();
    if (!progress->has_start || done < progress->start_done) {
        progress->start_done = done;
        progress->start_ns = now_ns;
        progress->has_start = true;
    }
    if (now_ns - progress->start_ns < SECOND_NS || now_ns - progress->drawn_ns < REDRAW_NS) {
        return;
    }
    draw(progress, done, total, unit, now_ns);
}

void cmd_progress_end(struct cmd_progress *progress)
{
    if (progress->is_drawn) {
        dprintf(STDERR_FILENO, "\r\033[K");
        progress->is_drawn = false;
    }
}
