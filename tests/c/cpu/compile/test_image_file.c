/* SPDX-License-Identifier: MIT */
/* Images: what is taken for one, and what is said of everything else. */
/* sources: core cpu/compile/image_file cpu/machine */
#include "check.h"
#include "cpu/compile/image_file.h"

#include <elf.h>
#include <stdint.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

enum { ELF_BYTES = 1000, FILE_BYTES = ELF_BYTES + 64 };

/* The smallest thing that passes: a header whose section table ends the file. */
static void
make_image(unsigned char image[FILE_BYTES])
{
    Elf64_Ehdr header = {0};
    struct ha_image_trailer trailer;
    memset(image, 0x55, FILE_BYTES);
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = MACHINE;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    header.e_shoff = ELF_BYTES - 2 * sizeof(Elf64_Shdr);
    memcpy(image, &header, sizeof header);
    ha_image_file_seal(image, ELF_BYTES, &trailer);
    memcpy(image + ELF_BYTES, &trailer, sizeof trailer);
}

static enum ha_status
check(const void *bytes, size_t size)
{
    const void *elf = NULL;
    size_t elf_size = 0;
    return ha_image_file_check(bytes, size, &elf, &elf_size);
}

static void
test_good_image_with_and_without_its_size(void)
{
    unsigned char image[FILE_BYTES];
    const void *elf = NULL;
    size_t elf_size = 0;
    make_image(image);
    CHECK_EQUAL(ha_image_file_check(image, sizeof image, &elf, &elf_size), HA_OK);
    CHECK(elf == image);
    CHECK_EQUAL(elf_size, ELF_BYTES);
    CHECK_EQUAL(check(image, 0), HA_OK);
}

static void
test_every_truncation_is_refused(void)
{
    unsigned char image[FILE_BYTES];
    make_image(image);
    for (size_t size = 1; size < sizeof image; size++) {
        /* In memory of just that size, so that a sanitizer sees a read behind it. */
        unsigned char *copy = malloc(size);
        CHECK(copy != NULL);
        memcpy(copy, image, size);
        CHECK_EQUAL(check(copy, size), HA_ERROR_CORRUPT);
        free(copy);
    }
}

static void
test_every_flipped_bit_is_refused(void)
{
    unsigned char image[FILE_BYTES];
    for (size_t bit = 0; bit < sizeof image * 8; bit++) {
        make_image(image);
        image[bit / 8] ^= (unsigned char)(1u << bit % 8);
        enum ha_status status = check(image, sizeof image);
        CHECK(status == HA_ERROR_CORRUPT || status == HA_ERROR_UNSUPPORTED);
    }
}

static void
test_code_for_gpus_is_unsupported(void)
{
    static const char *const starts[] = {"__CLANG_OFFLOAD_BUNDLE__", "CCOB",
                                         "BC\xc0\xde"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        CHECK_EQUAL(check(starts[i], strlen(starts[i])), HA_ERROR_UNSUPPORTED);
        CHECK_EQUAL(check(starts[i], 0), HA_ERROR_UNSUPPORTED);
    }
    unsigned char image[FILE_BYTES];
    make_image(image);
    ((Elf64_Ehdr *)(void *)image)->e_machine = 224;
    CHECK_EQUAL(check(image, sizeof image), HA_ERROR_UNSUPPORTED);
    CHECK_PART(ha_error_text(), "AMD GPU");
    ((Elf64_Ehdr *)(void *)image)->e_machine = EM_RISCV;
    CHECK_EQUAL(check(image, 0), HA_ERROR_UNSUPPORTED);
    CHECK_PART(ha_error_text(), "another machine");
}

static void
test_what_is_no_image_is_corrupt(void)
{
    CHECK_EQUAL(check("", 0), HA_ERROR_CORRUPT);
    CHECK_EQUAL(check("hello", 0), HA_ERROR_CORRUPT);
    CHECK_EQUAL(check("\x7f"
                      "ELF",
                      4),
                HA_ERROR_CORRUPT);
    CHECK_EQUAL(check(NULL, 0), HA_ERROR_INVALID);
}

static void
test_elf_of_somebody_else_has_no_trailer(void)
{
    unsigned char image[FILE_BYTES];
    make_image(image);
    memset(image + ELF_BYTES, 0, 64);
    CHECK_EQUAL(check(image, sizeof image), HA_ERROR_CORRUPT);
    CHECK_PART(ha_error_text(), "not made by hipadapt");
}

int
main(void)
{
    RUN(test_good_image_with_and_without_its_size);
    RUN(test_every_truncation_is_refused);
    RUN(test_every_flipped_bit_is_refused);
    RUN(test_code_for_gpus_is_unsupported);
    RUN(test_what_is_no_image_is_corrupt);
    RUN(test_elf_of_somebody_else_has_no_trailer);
    return 0;
}
