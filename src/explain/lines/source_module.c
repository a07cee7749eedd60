/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/lines/source_module.h"

#include <limits.h>
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

/* Headers of the system and of libraries that are installed: their code is compiled into programs.
 */
static bool is_system_header(const char *file)
{
    static const char *const folders[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/"};

    for (size_t i = 0; file != NULL && i < WIO_ARRAY_SIZE(folders); i++) {
        if (strncmp(file, folders[i], strlen(folders[i])) == 0) {
            return true;
        }
    }
    return file != NULL && strstr(file, "/include/c++/") != NULL;
}

static bool is_function(Dwarf_Die *scope)
{
    int tag = dwarf_tag(scope);

    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_entry_point;
}

/* Where the inlined function `scope` is called. False: it is not inlined, or that is not known. */
static bool find_caller(Dwarf_Die *unit, Dwarf_Die *scope, struct wio_source_place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files = NULL;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    size_t count = 0;

    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count || line == 0 ||
        line > INT_MAX) {
        return false;
    }
    const char *name = dwarf_filesrc(files, file, NULL, NULL);
    if (name == NULL) {
        return false;
    }
    *place = (struct wio_source_place){.function = "", .file = name, .line = (int)line};
    return true;
}

/* The scopes around `pc` as they lie in each other, the innermost first: for one that is inlined
 * dwarf_getscopes goes on with those around its definition. To be freed; 0: none. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **scopes_out)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(unit, pc, &scopes);

    *scopes_out = NULL;
    if (count > 0) {
        count = dwarf_getscopes_die(&scopes[0], scopes_out);
    }
    free(scopes);
    return count;
}

/*
 * From the line in `place` outwards to the first one that is not in a header of the system, and the
 * function that it is in. The innermost line stays where all of them are.
 */
static void find_own(Dwarf_Die *unit, Dwarf_Addr pc, struct wio_source_place *place)
{
    struct wio_source_place at = *place;
    Dwarf_Die *scopes = NULL;
    int count = find_scopes(unit, pc, &scopes);

    for (int i = 0; i < count; i++) {
        if (!is_function(&scopes[i])) {
            continue;
        }
        const char *name = dwarf_diename(&scopes[i]);
        at.function = name != NULL ? name : "";
        if (place->function[0] == '\0' || !is_system_header(at.file)) {
            *place = at;
        }
        if (!is_system_header(at.file) || !find_caller(unit, &scopes[i], &at)) {
            break;
        }
    }
    free(scopes);
}

/* The unit around an address of the file; *pc_out: that address as the unit counts. */
static Dwarf_Die *unit_of(const struct wio_source_module *module, uint64_t address,
                          Dwarf_Addr *pc_out)
{
    Dwarf_Addr elf_bias = 0;
    Dwarf_Addr bias = 0;

    if (module->module == NULL || dwfl_module_getelf(module->module, &elf_bias) == NULL) {
        return NULL;
    }
    Dwarf_Die *unit = find_unit(module->module, address + elf_bias, &bias);
    *pc_out = address + elf_bias - bias;
    return unit;
}

enum wio_status wio_source_module_find(const struct wio_source_module *module, uint64_t address,
                                       struct wio_source_place *place_out)
{
    Dwarf_Addr pc = 0;
    Dwarf_Die *unit = unit_of(module, address, &pc);

    if (unit == NULL) {
        return WIO_END;
    }
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
    *place_out = (struct wio_source_place){.function = "", .file = NULL, .line = 0};
    /* line 0: the compiler made this instruction for no line in particular */
    if (line == NULL || dwarf_lineno(line, &place_out->line) != 0 || place_out->line <= 0) {
        return WIO_END;
    }
    place_out->file = dwarf_linesrc(line, NULL, NULL);
    if (place_out->file == NULL) {
        return WIO_END;
    }
    find_own(unit, pc, place_out);
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

/* Of namespaces std and __gnu_cxx, as the Itanium C++ ABI mangles them: "_ZSt", "_ZNSt", "_ZNKSt",
 * with abbreviations (Sa, Ss, Si, So, Sd) in the place of St. */
static bool is_standard(const char *symbol)
{
    static const char *const starts[] = {"_ZS", "_ZNS", "_ZNKS", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};

    for (size_t i = 0; i < WIO_ARRAY_SIZE(starts); i++) {
        if (strncmp(symbol, starts[i], strlen(starts[i])) == 0) {
            return true;
        }
    }
    return false;
}

bool wio_source_module_is_header(const struct wio_source_module *module, uint64_t address)
{
    const char *symbol = wio_source_module_symbol(module, address);
    struct wio_source_place place;

    if (strncmp(symbol, "_Z", 2) != 0) { /* C has no templates */
        return false;
    }
    /* an instance of a template of the library may hold the program's code, inlined */
    return wio_source_module_find(module, address, &place) == WIO_OK ? is_system_header(place.file)
                                                                     : is_standard(symbol);
}
