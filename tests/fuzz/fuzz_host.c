/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.json: what is accepted can be given to a model, what is refused says why. */
#include <stdint.h>
#include <stdlib.h>

#include "machine/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

/* Models may refuse more than the file does, but with a reason. */
static void try_model(const struct wio_model_params *params, enum wio_model_kind kind)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = NULL;
    if (wio_model_create(kind, params, &heap, &model, &err) != WIO_OK) {
        require(err.message[0] != '\0');
    }
    wio_model_destroy(model);
}

static void try_device(const struct wio_host *host, uint32_t number)
{
    const struct wio_host_device *device = &host->devices[number];
    struct wio_error err = WIO_ERROR_INIT;
    require(number == 0 ? device->path[0] == '\0' : device->path[0] == '/');
    require(wio_host_device_of(host, device->path) == number);
    require(wio_model_params_check(&device->params, &err) == WIO_OK);
    for (unsigned kind = 0; kind < WIO_MODEL_KIND_COUNT; kind++) {
        try_model(&device->params, (enum wio_model_kind)kind);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wio_blob text = {0};
    struct wio_host host = {0};
    struct wio_error err = WIO_ERROR_INIT;
    require(wio_blob_put(&text, data, size) == WIO_OK);
    if (wio_host_parse(&text, "host.json", &host, &err) == WIO_OK) {
        require(host.device_count > 0);
        for (uint32_t i = 0; i < host.device_count; i++) {
            try_device(&host, i);
        }
    } else {
        require(err.message[0] != '\0');
    }
    wio_host_fini(&host);
    wio_blob_fini(&text);
    return 0;
}
