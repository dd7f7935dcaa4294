/* SPDX-License-Identifier: MIT */
#include "cpu/compile/image_file.h"

#include <elf.h>
#include <string.h>

#include "core/sha256.h"
#include "cpu/machine/machine.h"

#define EM_AMDGPU_NUMBER 224
#define PAGE_MASK ((uintptr_t)4095) /* no system has smaller pages */
/* Linkers are stopped at a quarter of this (cpu/compile/build.c). */
#define ELF_BYTES_MAX ((uint64_t)1 << 32)

/* Containers of GPU code, recognised by their first bytes. */
static const char *const gpu_magics[] = {
    "__CLANG_OFFLOAD_BUNDLE__", /* clang-offload-bundler */
    "CCOB",                     /* the same, compressed */
    "\x10\xff\x10\xad",         /* clang-offload-packager */
    "BC\xc0\xde",               /* LLVM bitcode */
    "\x03\x02\x23\x07",         /* SPIR-V */
};

bool
ha_image_begins(const void *bytes, size_t size, const void *magic, size_t magic_bytes)
{
    /* Byte by byte: what is something else may end before the magic does. */
    const unsigned char *found = bytes, *wanted = magic;
    for (size_t i = 0; i < magic_bytes; i++) {
        bool asked = size == 0 && i != 0 && ((uintptr_t)(found + i) & PAGE_MASK) != 0;
        if ((!asked && !ha_image_reaches(bytes, size, i, 1)) || found[i] != wanted[i]) {
            return false;
        }
    }
    return true;
}

void
ha_image_file_seal(const void *elf, size_t elf_size, struct ha_image_trailer *trailer)
{
    *trailer = (struct ha_image_trailer){.elf_size = elf_size};
    memcpy(trailer->magic, HA_IMAGE_TRAILER_MAGIC, sizeof trailer->magic);
    ha_sha256(elf, elf_size, trailer->sha256);
}

size_t
ha_image_file_elf_size(const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (!ha_image_reaches(bytes, size, 0, sizeof header)) {
        return 0;
    }
    memcpy(&header, bytes, sizeof header);
    if (header.e_ehsize != sizeof header || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shoff < sizeof header || header.e_shoff > ELF_BYTES_MAX ||
        header.e_shnum == 0) {
        return 0;
    }
    uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    /* Of an unknown size all of it is asked about when all of it is wanted. */
    return size != 0 && end > size ? 0 : (size_t)end;
}

/* What kind of thing the bytes are. */
static enum ha_status
check_kind(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof gpu_magics / sizeof gpu_magics[0]; i++) {
        if (ha_image_begins(bytes, size, gpu_magics[i], strlen(gpu_magics[i]))) {
            return ha_error_set(
                HA_ERROR_UNSUPPORTED,
                "the image is a container of GPU code, not code for the CPU device");
        }
    }
    if (!ha_image_begins(bytes, size, ELFMAG, SELFMAG)) {
        return ha_error_set(HA_ERROR_CORRUPT, "the image is not an ELF file");
    }
    Elf64_Ehdr header;
    if (!ha_image_reaches(bytes, size, 0, sizeof header)) {
        return size != 0
                   ? ha_error_set(HA_ERROR_CORRUPT,
                                  "the image has %zu bytes, an ELF header 64", size)
                   : ha_error_set(HA_ERROR_CORRUPT,
                                  "the image's ELF header can't be read");
    }
    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "the image is not a 64-bit little-endian ELF file");
    }
    if (header.e_machine == EM_AMDGPU_NUMBER) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "the image is a code object for an AMD GPU; the CPU device "
                            "runs what its own hiprtc compiled");
    }
    if (header.e_machine != ha_machine.elf_machine) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "the image is for another machine (e_machine %u)",
                            header.e_machine);
    }
    if (header.e_type != ET_DYN) {
        return ha_error_set(HA_ERROR_CORRUPT,
                            "the image is no shared object (e_type %u)", header.e_type);
    }
    return HA_OK;
}

enum ha_status
ha_image_file_check(const void *bytes, size_t size, const void **elf, size_t *elf_size)
{
    if (bytes == NULL) {
        return ha_error_set(HA_ERROR_INVALID, "the image is NULL");
    }
    if (!ha_image_reaches(bytes, size, 0, 1)) {
        return ha_error_set(HA_ERROR_CORRUPT, "the memory at %p can't be read", bytes);
    }
    enum ha_status status = check_kind(bytes, size);
    if (status != HA_OK) {
        return status;
    }
    size_t inner = ha_image_file_elf_size(bytes, size);
    struct ha_image_trailer trailer, expected;
    if (inner == 0 || !ha_image_reaches(bytes, size, inner, sizeof trailer)) {
        return ha_error_set(HA_ERROR_CORRUPT, "the image is cut short");
    }
    memcpy(&trailer, (const char *)bytes + inner, sizeof trailer);
    if (memcmp(trailer.magic, HA_IMAGE_TRAILER_MAGIC, sizeof trailer.magic) != 0 ||
        trailer.elf_size != inner) {
        return ha_error_set(
            HA_ERROR_CORRUPT,
            "the image has no trailer: it was not made by hipadapt, or it "
            "is cut short");
    }
    if (!ha_image_reaches(bytes, size, 0, inner)) {
        return ha_error_set(HA_ERROR_CORRUPT, "the image can't be read");
    }
    ha_image_file_seal(bytes, inner, &expected);
    if (memcmp(&trailer, &expected, sizeof trailer) != 0) {
        return ha_error_set(HA_ERROR_CORRUPT, "the image does not match its checksum");
    }
    *elf = bytes;
    *elf_size = inner;
    return HA_OK;
}
