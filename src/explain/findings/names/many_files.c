/* SPDX-License-Identifier: Apache-2.0 */
/* Many files of little data each: opening, reading or writing, and closing each of them. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static bool is_of_files(unsigned cls)
{
    return cls == WIO_CLASS_OPEN || cls == WIO_CLASS_CLOSE || cls == WIO_CLASS_READ ||
           cls == WIO_CLASS_WRITE || cls == WIO_CLASS_STAT || cls == WIO_CLASS_SIZE;
}

/* Steps of sites that meet more files than are told apart, with few requests for each: their time
 * on files that hold data. */
static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_site *site = wio_finding_site(input, step);
    uint32_t process = wio_trace_stream(input->trace, step->stream)->process;

    return is_of_files(wio_finding_class(input, step)) && site->kind == WIO_STEP_IO &&
                   site->files >= WIO_STEP_FILES && input->many_files[process] > 0
               ? wio_finding_part(step->data_ns, step->time_ns)
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};
    double each = wio_finding_part(group->bytes, group->data_opens);

    (void)input;
    if (group->data_opens == 0) { /* they are opened elsewhere */
        (void)snprintf(finding->title, sizeof(finding->title), "%s calls on many small files",
                       wio_finding_count(&words, group->data_count));
    } else if (group->bytes > 0) {
        (void)snprintf(finding->title, sizeof(finding->title), "%s opens of files of %s each",
                       wio_finding_count(&words, group->data_opens),
                       wio_finding_size(&words, each));
    } else { /* their bytes are moved by calls that are no part of it, such as copy_file_range */
        (void)snprintf(finding->title, sizeof(finding->title), "%s opens of small files",
                       wio_finding_count(&words, group->data_opens));
    }
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s operations on them, %s each",
                   wio_finding_count(&words, group->data_count),
                   wio_finding_time(&words, wio_finding_part(group->data_ns, group->data_count)));
    wio_finding_item(finding, "opens", (double)group->data_opens, "");
    wio_finding_item(finding, "operations", (double)group->data_count, "");
    wio_finding_item(finding, "bytes_per_open", each, "B");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "put the data into one file, or few, with an index");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--merge-files=1M");
}

const struct wio_finding_kind wio_finding_many_files = {.kind = "many_small_files",
                                                        .is_general = false,
                                                        .by = WIO_BY_ROLE,
                                                        .claim = claim,
                                                        .describe = describe};
