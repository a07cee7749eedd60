/* SPDX-License-Identifier: Apache-2.0 */
/* The two things that sealing needs of a program file: where its parts are loaded, and its
 * build-id. Only 64-bit little endian files: others cannot hold our addresses. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "seal/seal_internal.h"

#define HEADERS_MAX 256u
#define NOTES_MAX_BYTES 65536u

void wio_elf_fini(struct wio_elf_image *image)
{
    free(image->name);
    free(image->loads);
    *image = (struct wio_elf_image){0};
}

static void put_hex(const uint8_t *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

/* Notes: name size, description size, type, name, description, each padded to 4 bytes. */
static enum wio_status find_build_id(struct wio_buf notes, char *build_id)
{
    while (wio_buf_left(&notes) >= 12) {
        uint32_t name_bytes = 0;
        uint32_t desc_bytes = 0;
        uint32_t type = 0;
        const uint8_t *name = NULL;
        const uint8_t *desc = NULL;
        WIO_TRY(wio_buf_u32(&notes, &name_bytes));
        WIO_TRY(wio_buf_u32(&notes, &desc_bytes));
        WIO_TRY(wio_buf_u32(&notes, &type));
        if (name_bytes > NOTES_MAX_BYTES || desc_bytes > NOTES_MAX_BYTES) {
            return WIO_ERR_FORMAT;
        }
        WIO_TRY(wio_buf_bytes(&notes, (name_bytes + 3u) & ~3u, &name));
        WIO_TRY(wio_buf_bytes(&notes, desc_bytes, &desc));
        if (type == NT_GNU_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0 &&
            desc_bytes <= 64) {
            put_hex(desc, desc_bytes, build_id);
            return WIO_OK;
        }
        size_t padding = (4u - desc_bytes % 4u) % 4u;
        WIO_TRY(wio_buf_bytes(&notes, padding, &desc));
    }
    return WIO_END;
}

static enum wio_status read_notes(int fd, const char *path, const Elf64_Phdr *header,
                                  char *build_id)
{
    uint8_t bytes[4096];
    size_t size = header->p_filesz < sizeof(bytes) ? (size_t)header->p_filesz : sizeof(bytes);
    WIO_TRY(wio_io_pread(fd, path, bytes, size, header->p_offset, NULL));
    enum wio_status status = find_build_id(wio_buf_of(bytes, size), build_id);
    return status == WIO_END ? WIO_OK : status;
}

static bool is_elf64(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= HEADERS_MAX;
}

static enum wio_status read_headers(int fd, const char *path, const Elf64_Ehdr *header,
                                    struct wio_elf_image *image)
{
    image->loads = calloc((size_t)header->e_phnum + 1, sizeof(*image->loads));
    if (image->loads == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        uint64_t at = header->e_phoff + i * sizeof(part);
        WIO_TRY(wio_io_pread(fd, path, &part, sizeof(part), at, NULL));
        if (part.p_type == PT_LOAD) {
            image->loads[image->load_count++] =
                (struct wio_elf_load){part.p_offset, part.p_filesz, part.p_vaddr};
        } else if (part.p_type == PT_NOTE && image->build_id[0] == '\0') {
            (void)!read_notes(fd, path, &part, image->build_id); /* without: "" */
        }
    }
    return WIO_OK;
}

enum wio_status wio_elf_read(const char *path, struct wio_elf_image *image)
{
    Elf64_Ehdr header;
    WIO_CLEANUP(wio_fd_cleanup) int fd = wio_io_open_regular(AT_FDCWD, path, 0);
    if (fd < 0 || wio_io_pread(fd, path, &header, sizeof(header), 0, NULL) != WIO_OK ||
        !is_elf64(&header)) {
        return WIO_OK;
    }
    enum wio_status status = read_headers(fd, path, &header, image);
    return status == WIO_ERR_NOMEM ? status : WIO_OK;
}
