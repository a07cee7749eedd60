/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers or chunks of a library move far more bytes than its caller has asked for. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    double factor = (double)input->amplified[step - input->steps->steps];

    return factor >= input->thresholds->amplified ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_step *lead = &input->steps->steps[group->lead];
    const struct wio_site *site = wio_finding_site(input, lead);
    double factor = (double)input->amplified[group->lead];
    bool is_mpi = wio_op_class(site->outer) == WIO_CLASS_MPI_FILE;
    struct wio_finding_words words = {0};

    (void)snprintf(
        finding->title, sizeof(finding->title), "%s moved by %s, %.0f times what was asked for",
        wio_finding_size(&words, (double)group->bytes), wio_op_name(site->outer), factor);
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s requests of %s for calls that ask for less: the buffer is filled anew for "
                   "each",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "amplification", factor, "");
    (void)snprintf(finding->change, sizeof(finding->change), "%s",
                   is_mpi ? "switch data sieving off (romio_ds_read, romio_ds_write), or call "
                            "the collective function"
                          : "sort the records by offset, or use pread and pwrite, or a buffer of "
                            "a record's size (setvbuf)");
    wio_finding_removes(finding, 1 / factor);
}

const struct wio_finding_kind wio_finding_amplified = {.kind = "io_amplification",
                                                       .is_general = false,
                                                       .by = WIO_BY_PLACE,
                                                       .claim = claim,
                                                       .describe = describe};
