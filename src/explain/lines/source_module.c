/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/lines/source_module.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "base/cleanup.h"

#define BUILD_ID_BYTES 64

struct wio_source_module {
    Dwfl *dwfl;          /* NULL where the file cannot be used */
    Dwfl_Module *module; /* owned by dwfl */
    char *debug_path;    /* libdw wants a place for the search path: NULL = its default */
    Dwfl_Callbacks callbacks;
};

/* Hex of what is in the file, into `text`; "" where there is none. */
static void read_build_id(Dwfl_Module *module, char text[2 * BUILD_ID_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(module, &bits, &address);

    text[0] = '\0';
    if (bytes <= 0 || bytes > BUILD_ID_BYTES) {
        return;
    }
    for (size_t i = 0; i < (size_t)bytes; i++) {
        text[2 * i] = digits[bits[i] >> 4];
        text[2 * i + 1] = digits[bits[i] & 15];
    }
    text[2 * (size_t)bytes] = '\0';
}

static bool is_same_build(Dwfl_Module *module, const char *build_id)
{
    char found[2 * BUILD_ID_BYTES + 1];

    if (build_id[0] == '\0') {
        return true;
    }
    read_build_id(module, found);
    return strcmp(found, build_id) == 0;
}

/* A trace can name anything: on a FIFO libdw would wait for a writer. */
static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static Dwfl_Module *report(Dwfl *dwfl, const char *path, const char *build_id)
{
    Dwfl_Module *module;
    GElf_Addr bias;

    if (!is_file(path)) {
        return NULL;
    }
    dwfl_report_begin(dwfl);
    module = dwfl_report_offline(dwfl, path, path, -1);
    if (dwfl_report_end(dwfl, NULL, NULL) != 0 || module == NULL) {
        return NULL;
    }
    /* libdw reads the file only when it is asked for it */
    if (dwfl_module_getelf(module, &bias) == NULL || !is_same_build(module, build_id)) {
        return NULL;
    }
    return module;
}

enum wio_status wio_source_module_create(const char *path, const char *build_id,
                                         struct wio_source_module **module_out)
{
    struct wio_source_module *self = calloc(1, sizeof(*self));

    *module_out = self;
    if (self == NULL) {
        return WIO_ERR_NOMEM;
    }
    self->callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &self->debug_path,
    };
    self->dwfl = dwfl_begin(&self->callbacks);
    if (self->dwfl == NULL) {
        return WIO_OK;
    }
    self->module = report(self->dwfl, path, build_id);
    return WIO_OK;
}

void wio_source_module_destroy(struct wio_source_module *module)
{
    if (module == NULL) {
        return;
    }
    if (module->dwfl != NULL) {
        dwfl_end(module->dwfl);
    }
    free(module);
}

/*
 * The compilation unit around `pc` (an address as libdwfl counts), and what to take off `pc` there.
 * clang writes no table of addresses (.debug_aranges): then each unit is asked in turn.
 */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr pc, Dwarf_Addr *bias_out)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, pc, bias_out);

    if (unit != NULL) {
        return unit;
    }
    while ((unit = dwfl_module_nextcu(module, unit, bias_out)) != NULL) {
        if (dwarf_haspc(unit, pc - *bias_out) == 1) {
            return unit;
        }
    }
    return NULL;
}

/* Name of the innermost function of `unit`, inlined or not, around `pc`. */
static const char *find_function(Dwarf_Die *unit, Dwarf_Addr pc)
{
    Dwarf_Die *scopes = NULL;
    const char *name = NULL;
    int count = dwarf_getscopes(unit, pc, &scopes);

    for (int i = 0; i < count && name == NULL; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
            tag == DW_TAG_entry_point) {
            name = dwarf_diename(&scopes[i]);
        }
    }
    free(scopes);
    return name != NULL ? name : "";
}

enum wio_status wio_source_module_find(const struct wio_source_module *module, uint64_t address,
                                       struct wio_source_place *place_out)
{
    Dwarf_Addr elf_bias = 0;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit;
    Dwarf_Line *line;
    Dwarf_Addr pc;

    if (module->module == NULL || dwfl_module_getelf(module->module, &elf_bias) == NULL) {
        return WIO_END;
    }
    unit = find_unit(module->module, address + elf_bias, &bias);
    if (unit == NULL) {
        return WIO_END;
    }
    pc = address + elf_bias - bias;
    line = dwarf_getsrc_die(unit, pc);
    *place_out = (struct wio_source_place){.function = "", .file = NULL, .line = 0};
    /* line 0: the compiler made this instruction for no line in particular */
    if (line == NULL || dwarf_lineno(line, &place_out->line) != 0 || place_out->line <= 0) {
        return WIO_END;
    }
    place_out->file = dwarf_linesrc(line, NULL, NULL);
    if (place_out->file == NULL) {
        return WIO_END;
    }
    place_out->function = find_function(unit, pc);
    return WIO_OK;
}

/* libdw names the nearest symbol before an address, too. One without a size is that of hand-written
 * code, and holds what follows it. */
static bool symbol_holds(const char *name, const GElf_Sym *symbol, GElf_Off offset)
{
    return name != NULL && GELF_ST_TYPE(symbol->st_info) == STT_FUNC &&
           (symbol->st_size == 0 || offset < symbol->st_size);
}

const char *wio_source_module_symbol(const struct wio_source_module *module, uint64_t address)
{
    GElf_Addr bias = 0;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    if (module->module == NULL || dwfl_module_getelf(module->module, &bias) == NULL) {
        return "";
    }
    const char *name =
        dwfl_module_addrinfo(module->module, address + bias, &offset, &symbol, NULL, NULL, NULL);
    const bool is_inside = symbol_holds(name, &symbol, offset);
    return is_inside ? name : "";
}
