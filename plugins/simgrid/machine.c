/* SPDX-License-Identifier: Apache-2.0 */
/* From what the caller says of the machine to the parameters of the model. */
#include "plugin.h"

#include <string.h>

#include "base/cleanup.h"
#include "machine/host.h"

static enum wio_status refuse(struct wio_error *err, const char *name, const char *why)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "parameter '%s' %s", name,
                         why);
}

static bool is_of_the_disk(const char *name)
{
    static const char *const names[] = {"bw_dev", "bw_rdev", "bw_burst", "burst_size", "slice"};
    size_t i = 0;
    while (i < WIO_ARRAY_SIZE(names) && strcmp(names[i], name) != 0) {
        i++;
    }
    return i < WIO_ARRAY_SIZE(names);
}

static enum wio_status set(struct wio_model_params *params, const struct wio_simgrid_param *given,
                           struct wio_error *err)
{
    double *value = wio_model_param(params, given->name);
    if (value == NULL) {
        return refuse(err, given->name, "is not known");
    }
    if (is_of_the_disk(given->name)) {
        return refuse(err, given->name, "is the platform's to say: the device is SimGrid's disk");
    }
    *value = given->value;
    return WIO_OK;
}

/* One that stands for others where these are not given replaces those of the file. */
static void drop_details(struct wio_model_params *params, const struct wio_simgrid_param *given)
{
    for (; given != NULL && given->name != NULL; given++) {
        if (strcmp(given->name, "sc_sw") == 0) {
            params->c_flush = 0;
        }
    }
}

enum wio_status wio_simgrid_params(const struct wio_simgrid_machine *machine, sg_disk_t disk,
                                   struct wio_model_params *params, struct wio_error *err)
{
    if (machine->struct_size < sizeof(*machine)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "struct_size of struct wio_simgrid_machine is %zu, expected %zu",
                             machine->struct_size, sizeof(*machine));
    }
    *params = wio_model_params_default();
    if (machine->host_json != NULL) {
        WIO_TRY(wio_host_read(machine->host_json, params, err));
    }
    drop_details(params, machine->params);
    for (const struct wio_simgrid_param *given = machine->params;
         given != NULL && given->name != NULL; given++) {
        WIO_TRY(set(params, given, err));
    }
    params->bw_dev = sg_disk_write_bandwidth(disk);
    params->bw_rdev = sg_disk_read_bandwidth(disk);
    params->bw_burst = params->burst_size = params->slice = 0; /* a disk passes evenly */
    return WIO_OK;
}
