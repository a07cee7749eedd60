/* SPDX-License-Identifier: Apache-2.0 */
/* One ELF file and its debug information: the only place that knows libdw. */
#ifndef WIO_EXPLAIN_SOURCE_MODULE_H
#define WIO_EXPLAIN_SOURCE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_source_module;

/*
 * Open the ELF file `path`. `build_id` is the expected one in hex, "" = not known. A file that is
 * gone, unreadable or another build gives an object that resolves nothing: only lack of memory
 * is an error. The caller owns the object.
 */
WIO_MUST_CHECK enum wio_status wio_source_module_create(const char *path, const char *build_id,
                                                        struct wio_source_module **module_out);
/* Accepts NULL. */
void wio_source_module_destroy(struct wio_source_module *module);

/*
 * The place of the instruction at `address` (in the file's own address space): that of the
 * innermost function, inlined or not, which is in no header of the system (of C++ above all); the
 * innermost of all where there is none. Borrowed texts, valid while the module lives. WIO_END where
 * it is not known.
 */
struct wio_source_place {
    const char *function; /* "" = not known */
    const char *file;     /* as the compiler wrote it down */
    int line;
};
WIO_MUST_CHECK enum wio_status wio_source_module_find(const struct wio_source_module *module,
                                                      uint64_t address,
                                                      struct wio_source_place *place_out);

/*
 * Name of the function around `address`, by the symbol tables: .symtab, .dynsym, .gnu_debugdata, of
 * the file or of its separate debug file. "" where there is none. Borrowed as above.
 */
const char *wio_source_module_symbol(const struct wio_source_module *module, uint64_t address);

/*
 * Is the code at `address` that of a header of the system alone, such as a template of C++'s
 * library that was compiled into this file? False where nothing is known.
 */
bool wio_source_module_is_header(const struct wio_source_module *module, uint64_t address);

#endif
