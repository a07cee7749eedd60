/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/edges.h>

#include "base/cleanup.h"

const char *wio_edge_class_name(unsigned edge_class)
{
    static const char *const names[] = {"hard", "collective", "mutex", "queue"};
    return edge_class < WIO_ARRAY_SIZE(names) ? names[edge_class] : "?";
}

const char *wio_evidence_name(unsigned evidence)
{
    static const char *const names[] = {
#define EVIDENCE_NAME(name, text) text,
        WIO_EVIDENCE_LIST(EVIDENCE_NAME)
#undef EVIDENCE_NAME
    };
    return evidence < WIO_ARRAY_SIZE(names) ? names[evidence] : "?";
}
