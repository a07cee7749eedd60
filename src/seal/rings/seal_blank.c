/* SPDX-License-Identifier: Apache-2.0 */
/* R-RING-9: a ring without a header tells that there was a process, by its name, and no more: there
 * was no room for the header, or the process was killed before it had written it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "seal/seal_internal.h"

/* "<host>.<pid>.<monotonic ns>.ring" */
static bool parse_name(const char *name, struct wio_ring_header *header)
{
    char text[256];
    uint64_t pid = 0;
    size_t bytes = strlen(name);
    if (bytes >= sizeof(text) || !wio_text_ends_with(name, ".ring")) {
        return false;
    }
    (void)snprintf(text, sizeof(text), "%.*s", (int)(bytes - strlen(".ring")), name);
    char *ns = strrchr(text, '.');
    if (ns == NULL) {
        return false;
    }
    *ns = '\0';
    char *number = strrchr(text, '.');
    if (number == NULL || wio_parse_u64(ns + 1, &header->start_mono_ns) != WIO_OK ||
        wio_parse_u64(number + 1, &pid) != WIO_OK || pid > INT32_MAX) {
        return false;
    }
    *number = '\0';
    header->pid = (int32_t)pid;
    (void)snprintf(header->host, sizeof(header->host), "%.63s", text);
    return true;
}

bool wio_seal_blank_header(const struct wio_seal *seal, const char *name, const struct stat *st,
                           struct wio_ring_header *header_out)
{
    char host[sizeof(header_out->host)] = "";
    *header_out = (struct wio_ring_header){
        .version = WIO_RING_VERSION,
        .clock = WIO_CLOCK_MONOTONIC_NS,
        .rank = -1,
        .first_string = 1,
        .start_unix_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec,
    };
    if (!parse_name(name, header_out)) {
        return false;
    }
    header_out->unseen[WIO_UNSEEN_NO_RING] = 1;
    (void)gethostname(host, sizeof(host) - 1);
    if (strcmp(host, header_out->host) == 0 && header_out->start_mono_ns <= wio_clock_mono_ns()) {
        memcpy(header_out->boot_id, seal->boot_id, sizeof(header_out->boot_id));
    }
    return true;
}
