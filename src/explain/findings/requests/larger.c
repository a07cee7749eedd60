/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Larger requests in the place of small or random ones, where no option of `whyio predict` makes
 * them: of bytes that a call copies, an asynchronous request moves or a stream holds, and of reads
 * with gaps between them, which larger ones read as well. What they cost is assumed as for fitted
 * costs (predict/fit.h).
 */
#include <math.h>
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"
#include "predict/fit.h"

#define LARGE 1048576.0
#define COPY_PART 65536.0 /* of the kernel's copies by a pipe, whatever the call asks for */

/* The part of the group's time that requests of `size` take for `bytes`: each as long as one of
 * now, and what its other bytes take. */
static double kept_of(const struct wio_finding_group *group, double bytes, double size)
{
    double requests = ceil(bytes / size);
    double each_ns = wio_finding_part(group->time_ns, group->count);
    double ns = requests * each_ns + 1e9 * bytes / WIO_FIT_ASSUMED_BW;

    return group->time_ns > 0 ? ns / (double)group->time_ns : 1;
}

static bool is_read(unsigned cls)
{
    return cls == WIO_CLASS_READ || cls == WIO_CLASS_ASYNC_READ;
}

/* Bytes from the first to the last that were read of a file, where at most half of them were; 0:
 * there is no such. */
static double gapped_bytes(const struct wio_finding_input *input,
                           const struct wio_finding_group *group)
{
    const struct wio_patterns *patterns = input->patterns;

    if (group->is_several || group->path >= patterns->file_capacity) {
        return 0;
    }
    const struct wio_file_row *file = &patterns->files[group->path];
    const uint64_t range = file->read_end - file->read_begin;
    return file->bytes_read <= range / 2 ? (double)range : 0;
}

static void set(struct wio_finding *finding, double kept)
{
    wio_finding_removes(finding, kept);
    finding->is_kept_assumed = kept < 1;
    if (kept >= 1) {
        finding->no_gain = "at 500 MB/s larger requests would take as long for their bytes";
    }
}

/* At random places a larger request does not stand for several. */
static bool is_random_larger(unsigned cls, struct wio_finding *finding)
{
    if (cls != WIO_CLASS_ASYNC_READ && cls != WIO_CLASS_ASYNC_WRITE) {
        return false;
    }
    (void)snprintf(finding->change, sizeof(finding->change),
                   "many of these under way at a time, sorted by offset");
    finding->no_gain = "what many of these requests at a time take is in no trace";
    return true;
}

bool wio_finding_larger(const struct wio_finding_input *input,
                        const struct wio_finding_group *group, struct wio_finding *finding)
{
    unsigned cls = wio_finding_class(input, &input->steps->steps[group->lead]);
    double gapped = is_read(cls) ? gapped_bytes(input, group) : 0;

    if (gapped > 0) {
        /* each thread may have to read all of it */
        double kept = kept_of(group, gapped * (double)group->step_count, LARGE);
        bool is_worth = kept < input->thresholds->dominant;
        (void)snprintf(finding->change, sizeof(finding->change), "%s",
                       is_worth ? "read parts of 1 MiB with the gaps between these, and pick from "
                                  "memory"
                                : "ask for many of them at a time (posix_fadvise with "
                                  "POSIX_FADV_WILLNEED, io_uring, threads)");
        if (is_worth) {
            set(finding, kept);
        } else {
            finding->no_gain = "what many of these requests at a time take is in no trace";
        }
        return true;
    }
    double size = LARGE;
    bool is_random =
        wio_finding_part(group->pattern.random_ns, group->time_ns) >= input->thresholds->dominant;
    if (is_random) {
        return is_random_larger(cls, finding);
    }
    if (wio_finding_is_of_stream(input, &input->steps->steps[group->lead])) {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "a buffer of 1 MiB (setvbuf with memory of its own: without, its size is "
                       "not taken), or read and write without stdio");
        (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--bf=1M");
    } else if (cls == WIO_CLASS_COPY) {
        size = COPY_PART;
        (void)snprintf(finding->change, sizeof(finding->change),
                       "let each call copy 1 MiB or more");
    } else if (cls == WIO_CLASS_ASYNC_READ || cls == WIO_CLASS_ASYNC_WRITE) {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "requests of 1 MiB, or many of these under way at a time");
    } else {
        return false;
    }
    set(finding, kept_of(group, (double)group->bytes, size));
    return true;
}
