/* SPDX-License-Identifier: MIT */
/* The bytes that hiprtcGetCode gives and hipModuleLoadData takes: an ELF shared object
 * for this host (cpu/base/image.h), followed directly by a trailer.
 *
 *     0              elf_size      elf_size + 64
 *     | ELF          | trailer     |
 *                      0  magic "HAIMAGE1"
 *                      8  elf_size, host byte order
 *                      16 sha256 of the ELF
 *                      48 zeros
 *
 * hipModuleLoadData gets no size, so the position of the trailer is computed from the
 * ELF header: ld.lld writes the section header table last. */
#ifndef HA_CPU_COMPILE_IMAGE_FILE_H
#define HA_CPU_COMPILE_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/readable.h"
#include "core/status.h"

#define HA_IMAGE_TRAILER_MAGIC "HAIMAGE1"

struct ha_image_trailer {
    char magic[8];
    uint64_t elf_size;
    uint8_t sha256[32];
    uint8_t zeros[16];
};

_Static_assert(sizeof(struct ha_image_trailer) == 64, "the trailer is a file format");

/* Whether the `count` bytes from `at` on belong to the `size` bytes; with `size` 0,
 * which stands for an unknown one, whether they can be read at all. */
static inline bool
ha_image_reaches(const void *bytes, size_t size, uint64_t at, uint64_t count)
{
    if (size != 0) {
        return at <= size && count <= size - at;
    }
    uint64_t address;
    return count <= SIZE_MAX &&
           !__builtin_add_overflow((uint64_t)(uintptr_t)bytes, at, &address) &&
           ha_memory_readable((const void *)(uintptr_t)address, (size_t)count);
}

/* Whether they begin with these.  `size` as above. */
bool ha_image_begins(const void *bytes, size_t size, const void *magic,
                     size_t magic_bytes);

/* Fills the trailer of an ELF. */
void ha_image_file_seal(const void *elf, size_t elf_size,
                        struct ha_image_trailer *trailer);

/* Whether the bytes are an image that this process may load.  `size` 0 = unknown: then
 * the system is asked whether the bytes that the ELF header claims can be read, before
 * they are.  Gives the ELF inside, borrowed.  HA_ERROR_UNSUPPORTED: code for something
 * else, such as an AMD GPU; HA_ERROR_CORRUPT: not an image, or a damaged one. */
enum ha_status ha_image_file_check(const void *bytes, size_t size, const void **elf,
                                   size_t *elf_size);

/* The size that the ELF header claims: the end of its section header table; 0 if the
 * header makes no sense. `size` as above. */
size_t ha_image_file_elf_size(const void *bytes, size_t size);

#endif
