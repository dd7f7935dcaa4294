/* SPDX-License-Identifier: MIT */
/* The bytes that hiprtcGetCode gives and hipModuleLoadData takes: an ELF shared object
 * for this host (cpu/image.h), followed directly by a trailer.
 *
 *     0              elf_size      elf_size + 64
 *     | ELF          | trailer     |
 *                      0  magic "HAIMAGE1"
 *                      8  elf_size, host byte order
 *                      16 sha256 of the ELF
 *                      48 zeros
 *
 * hipModuleLoadData is not told a size, so the place of the trailer is computed from
 * the ELF header: ld.lld writes the section header table last. */
#ifndef HA_CPU_IMAGE_FILE_H
#define HA_CPU_IMAGE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define HA_IMAGE_TRAILER_MAGIC "HAIMAGE1"

struct ha_image_trailer {
    char magic[8];
    uint64_t elf_size;
    uint8_t sha256[32];
    uint8_t zeros[16];
};

_Static_assert(sizeof(struct ha_image_trailer) == 64, "the trailer is a file format");

/* Fills the trailer of an ELF. */
void ha_image_file_seal(const void *elf, size_t elf_size,
                        struct ha_image_trailer *trailer);

/* Whether the bytes are an image that this process may load.  `size` 0 = unknown: then
 * the bytes that the ELF header and the trailer claim must be readable.  Gives the ELF
 * inside, borrowed.  HA_ERROR_UNSUPPORTED: code for something else, such as an AMD GPU;
 * HA_ERROR_CORRUPT: not an image, or a damaged one. */
enum ha_status ha_image_file_check(const void *bytes, size_t size, const void **elf,
                                   size_t *elf_size);

/* The size that the ELF header claims: the end of its section header table; 0 if the
 * header makes no sense. `size` as above. */
size_t ha_image_file_elf_size(const void *bytes, size_t size);

#endif
