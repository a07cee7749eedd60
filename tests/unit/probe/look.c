/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of processes, as the probe finds them out: for tests with a real batch system.
 *
 * usage: probe_look MODE PID...     prints a line for each: its id, its job
 */
#include <stdio.h>
#include <stdlib.h>

#include "probe/probe.h"

static uint32_t resolve(struct wio_probe *probe, uint32_t pid)
{
    wio_probe_drain(probe);
    (void)wio_probe_job(probe, pid, wio_probe_now_ms());
    wio_probe_settle(probe);
    return wio_probe_job(probe, pid, wio_probe_now_ms()).job;
}

int main(int argc, char **argv)
{
    struct wio_probe_params params = {.policy = wio_job_policy_exit()};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_probe *probe;
    if (argc < 3 || wio_job_settings_mode(&params.settings, argv[1], &err) != WIO_OK ||
        wio_probe_create(&params, &probe, &err) != WIO_OK) {
        (void)fprintf(stderr, "usage: probe_look MODE PID...\n%s\n", err.message);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const uint32_t pid = (uint32_t)strtoul(argv[i], NULL, 10);
        printf("%u %s\n", pid, wio_probe_text(probe, resolve(probe, pid), NULL));
    }
    wio_probe_destroy(probe);
    return 0;
}
