/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses -> (module, build-id, address in the module's file). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/code_owner.h"
#include "seal/seal_internal.h"

#define STACK_MAX 256u

/* The function and the file of a script, each by itself. */
static enum wio_status hide(const struct wio_seal *seal, const char *path, struct wio_blob *out)
{
    struct wio_code_script script;
    if (!wio_code_script(path, &script)) {
        return wio_path_anonymise(seal->key, path, strlen(path), out);
    }
    WIO_TRY(wio_blob_put(out, WIO_CODE_PYTHON, sizeof(WIO_CODE_PYTHON) - 1));
    WIO_TRY(wio_path_anonymise(seal->key, script.function, script.function_bytes, out));
    WIO_TRY(wio_blob_u8(out, ':'));
    return wio_path_anonymise(seal->key, script.file, strlen(script.file), out);
}

/* A stack's own sources are told from single addresses by their id's map. */
static enum wio_status image_of(struct wio_seal *seal, const char *path, size_t bytes,
                                uint32_t *image_out)
{
    uint32_t id = 0;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob name = {0};
    WIO_TRY(wio_strtab_add(&seal->elf_names, path, bytes, &id));
    *image_out = id == 0 ? UINT32_MAX : id - 1;
    if (id == 0 || id <= seal->elf_count) {
        return WIO_OK;
    }
    void *array = seal->elf;
    WIO_TRY(wio_grow(&array, sizeof(*seal->elf), &seal->elf_capacity, id));
    seal->elf = array;
    struct wio_elf_image *image = &seal->elf[id - 1];
    seal->elf_count = id;
    if (seal->is_hiding) {
        WIO_TRY(hide(seal, wio_strtab_get(&seal->elf_names, id, NULL), &name));
    } else {
        WIO_TRY(wio_blob_put(&name, path, bytes));
    }
    image->name = strndup((const char *)name.data, name.size);
    if (image->name == NULL) {
        return WIO_ERR_NOMEM;
    }
    struct wio_code_script script;
    if (wio_code_script(wio_strtab_get(&seal->elf_names, id, NULL), &script)) {
        return WIO_OK; /* no machine code */
    }
    return wio_elf_read(wio_strtab_get(&seal->elf_names, id, NULL), image);
}

enum wio_status wio_seal_module(struct wio_seal *seal, struct wio_seal_work *work,
                                const union wio_slot *slot)
{
    size_t bytes = 0;
    const char *payload = wio_slot_payload(slot, &bytes);
    struct wio_seal_module module = {.low = slot->text.lo, .high = slot->text.hi};
    if (payload == NULL || module.low >= module.high) {
        return WIO_OK;
    }
    struct wio_buf buf = wio_buf_of(payload, bytes);
    if (wio_buf_u64(&buf, &module.file_offset) != WIO_OK) {
        return WIO_OK;
    }
    WIO_TRY(image_of(seal, payload + buf.pos, wio_buf_left(&buf), &module.image));
    void *array = work->modules;
    WIO_TRY(
        wio_grow(&array, sizeof(*work->modules), &work->module_capacity, work->module_count + 1));
    work->modules = array;
    work->modules[work->module_count++] = module;
    return WIO_OK;
}

/* The latest definition that covers the address. */
static const struct wio_seal_module *find_module(const struct wio_seal_work *work, uint64_t address)
{
    for (uint32_t i = work->module_count; i > 0; i--) {
        const struct wio_seal_module *module = &work->modules[i - 1];
        if (address >= module->low && address < module->high) {
            return module;
        }
    }
    return NULL;
}

/* From the place in the file to the address that debug information uses. */
static uint64_t file_to_address(const struct wio_elf_image *image, uint64_t offset)
{
    for (uint32_t i = 0; i < image->load_count; i++) {
        const struct wio_elf_load *load = &image->loads[i];
        if (offset >= load->offset && offset - load->offset < load->bytes) {
            return offset - load->offset + load->address;
        }
    }
    return offset;
}

static struct wio_frame frame_of(const struct wio_seal *seal, const struct wio_seal_work *work,
                                 uint64_t address)
{
    const struct wio_seal_module *module = find_module(work, address);
    if (module == NULL || module->image >= seal->elf_count) {
        return (struct wio_frame){"", "", address};
    }
    const struct wio_elf_image *image = &seal->elf[module->image];
    uint64_t offset = address - module->low + module->file_offset;
    return (struct wio_frame){image->name, image->build_id, file_to_address(image, offset)};
}

enum wio_status wio_seal_source(struct wio_seal *seal, struct wio_seal_work *work, uint64_t address,
                                uint32_t *source_out, struct wio_error *err)
{
    *source_out = 0;
    if (address == 0) {
        return WIO_OK;
    }
    const uint64_t *known = wio_map_get(&work->sources, address);
    if (known != NULL) {
        *source_out = (uint32_t)*known;
        return WIO_OK;
    }
    struct wio_frame frame = frame_of(seal, work, address);
    WIO_TRY(wio_segment_source(seal->segment, &frame, 1, source_out, err));
    enum wio_status status = wio_map_put(&work->sources, address, *source_out);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(seal->segment, status, err);
}

enum wio_status wio_seal_stack(struct wio_seal *seal, struct wio_seal_work *work,
                               const union wio_slot *slot, struct wio_error *err)
{
    struct wio_frame frames[STACK_MAX];
    size_t bytes = 0;
    const char *payload = wio_slot_payload(slot, &bytes);
    uint32_t count = 0;
    uint32_t source = 0;
    if (payload == NULL) {
        return WIO_OK;
    }
    struct wio_buf buf = wio_buf_of(payload, bytes);
    uint64_t address = 0;
    while (count < STACK_MAX && wio_buf_u64(&buf, &address) == WIO_OK) {
        frames[count++] = frame_of(seal, work, address);
    }
    if (count == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_segment_source(seal->segment, frames, count, &source, err));
    enum wio_status status = wio_map_put(&work->stacks, slot->text.id, source);
    return status == WIO_OK ? WIO_OK : wio_segment_fail(seal->segment, status, err);
}
