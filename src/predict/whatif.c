/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/whatif.h"

#include <math.h>
#include <string.h>

static double given_or(double given, double value)
{
    return isnan(given) ? value : given;
}

void wio_whatif_machine(const struct wio_predict_whatif *whatif, struct wio_model_params *machine)
{
    machine->limit_bg = given_or(whatif->limit_bg, machine->limit_bg);
    machine->limit_hard = given_or(whatif->limit_hard, machine->limit_hard);
    machine->bf = given_or(whatif->bf, machine->bf);
    machine->bs = given_or(whatif->bs, machine->bs);
}

static bool is_on(enum wio_predict_force force, bool as_it_is)
{
    return force == WIO_PREDICT_AS_IS ? as_it_is : force == WIO_PREDICT_ON;
}

enum wio_model_method wio_whatif_method(const struct wio_predict_whatif *whatif,
                                        enum wio_model_method method)
{
    bool is_sync = method == WIO_MODEL_SYNC || method == WIO_MODEL_DIRECT;
    bool is_direct = method == WIO_MODEL_DIRECT || method == WIO_MODEL_DIRECT_NOSYNC;
    if (method != WIO_MODEL_WRITE && !is_sync && !is_direct) {
        return method;
    }
    is_sync = is_on(whatif->sync, is_sync);
    if (is_on(whatif->direct, is_direct)) {
        return is_sync ? WIO_MODEL_DIRECT : WIO_MODEL_DIRECT_NOSYNC;
    }
    return is_sync ? WIO_MODEL_SYNC : WIO_MODEL_WRITE;
}

/* Of one device; false where it has no such number. */
static bool set_device(struct wio_host_device *device, const char *key, double value)
{
    static const char meta[] = "meta.";
    double *param = wio_model_param(&device->params, key);
    if (param != NULL) {
        *param = value;
        return true;
    }
    return strncmp(key, meta, strlen(meta)) == 0 && value >= 0 &&
           wio_meta_set(&device->meta, key + strlen(meta), value);
}

static bool set_host(struct wio_host *host, const char *key, double value)
{
    bool is_positive = value > 0 && isfinite(value);
    if (strcmp(key, "cpus") == 0 && value >= 1 && value <= WIO_HOST_CPUS_MAX) {
        host->cpus = (uint32_t)value;
    } else if (strcmp(key, "net_bw") == 0 && is_positive) {
        host->net_bw = value;
    } else if (strcmp(key, "net_lat") == 0 && (is_positive || value == 0)) {
        host->net_lat = value;
    } else {
        return false;
    }
    return true;
}

/* "store.targets": of the devices that are a store; false where none is. */
static bool set_store(struct wio_host *host, const char *key, double value)
{
    static const char store[] = "store.";
    bool is_set = false;
    if (strncmp(key, store, strlen(store)) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < host->device_count; i++) {
        struct wio_host_store *own = &host->devices[i].store;
        is_set |= own->targets > 0 && wio_host_store_set(own, key + strlen(store), value);
    }
    return is_set;
}

enum wio_status wio_whatif_set(const struct wio_predict_whatif *whatif, struct wio_host *host,
                               struct wio_error *err)
{
    if (whatif->key == NULL || set_host(host, whatif->key, whatif->value) ||
        set_store(host, whatif->key, whatif->value)) {
        return WIO_OK;
    }
    for (uint32_t i = 0; i < host->device_count; i++) {
        if (!set_device(&host->devices[i], whatif->key, whatif->value)) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "--set: '%s' is no number of HOST.json that could be %g",
                                 whatif->key, whatif->value);
        }
    }
    return WIO_OK;
}

double wio_whatif_spread(const struct wio_predict_whatif *whatif, struct wio_host *host)
{
    double largest = 0;
    for (uint32_t i = 0; i < host->device_count; i++) {
        struct wio_host_device *device = &host->devices[i];
        double factor = 1 + device->spread_bw_dev;
        device->params.bw_dev *= whatif->spread > 0 ? factor : 1;
        device->params.bw_dev /= whatif->spread < 0 ? factor : 1;
        largest = fmax(largest, device->spread_bw_dev);
    }
    return largest;
}
