/* SPDX-License-Identifier: MIT */
/* Line tables: what stands in them, and damaged ones. */
/* sources: core cpu/module/lines */
#include "cpu/module/lines.h"

#include <elf.h>
#include <stdint.h>

#include "check.h"

/* A unit with one file: line 7 at 0x1000, line 9, column 3 at 0x1004, its end at
 * 0x1010.
 */
static const uint8_t unit[] = {
    /* version 4, and the bytes of the head behind its own number */
    4, 0, 29, 0, 0, 0,
    /* instructions of 1 byte, is_stmt, lines from -5, 14 of them, opcodes from 13 */
    1, 1, 1, 0xfb, 14, 13,
    /* operands of standard opcodes */
    0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
    /* no folders; a file; its folder, time and bytes; the end */
    0, 'k', '\n', 'f', '\n', 't', 0, 0, 0, 0, 0,
    /* the program: an address */
    0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0,
    /* line + 6, a row */
    3, 6, 1,
    /* column 3; address + 4 and line + 2: 2 + 5 + 14 * 4 + 13 */
    5, 3, 76,
    /* address + 12; the end of the sequence */
    2, 12, 0, 1, 1};

enum { HEAD_AT = 0, NAMES_AT = 64, LINES_AT = 96, TABLE_AT = 256, SIZE = 512 };

struct file {
    _Alignas(8) uint8_t bytes[SIZE];
};

static void
make(struct file *file)
{
    static const char names[] = "\0.debug_line";
    Elf64_Ehdr head = {.e_shoff = TABLE_AT, .e_shnum = 3, .e_shstrndx = 1};
    Elf64_Shdr table[3] = {
        {0},
        {.sh_offset = NAMES_AT, .sh_size = sizeof names, .sh_type = SHT_STRTAB},
        {.sh_name = 1,
         .sh_offset = LINES_AT,
         .sh_size = 4 + sizeof unit,
         .sh_type = SHT_PROGBITS}};
    uint32_t size = sizeof unit;

    memset(file, 0, sizeof *file);
    memcpy(file->bytes + HEAD_AT, &head, sizeof head);
    memcpy(file->bytes + NAMES_AT, names, sizeof names);
    memcpy(file->bytes + LINES_AT, &size, 4);
    memcpy(file->bytes + LINES_AT + 4, unit, sizeof unit);
    memcpy(file->bytes + TABLE_AT, table, sizeof table);
}

static void
check_place(const struct ha_lines *lines, uint64_t at, uint32_t line, uint32_t column)
{
    struct ha_line_place place = ha_lines_find(lines, at);

    CHECK_EQUAL(place.line, line);
    if (line != 0) {
        CHECK_EQUAL(place.column, column);
        CHECK_TEXT(place.name, "k\nf\nt");
    }
}

static void
test_rows_are_found(void)
{
    struct file file;

    make(&file);
    struct ha_lines *lines = ha_lines_read(file.bytes, SIZE);
    CHECK(lines != NULL);
    check_place(lines, 0, 0, 0);
    check_place(lines, 0xfff, 0, 0);
    check_place(lines, 0x1000, 7, 0);
    check_place(lines, 0x1003, 7, 0);
    check_place(lines, 0x1004, 9, 3);
    check_place(lines, 0x100f, 9, 3);
    check_place(lines, 0x1010, 0, 0);
    ha_lines_free(lines);
}

/* Nothing is promised but that it ends. */
static void
test_damaged_tables_are_read_or_refused(void)
{
    struct file file;

    for (size_t at = LINES_AT; at < LINES_AT + 4 + sizeof unit; at++) {
        for (unsigned value = 0; value < 256; value++) {
            make(&file);
            file.bytes[at] = (uint8_t)value;
            struct ha_lines *lines = ha_lines_read(file.bytes, SIZE);
            if (lines != NULL) {
                (void)ha_lines_find(lines, 0x1004);
                ha_lines_free(lines);
            }
        }
    }
}

static void
test_files_without_tables_have_none(void)
{
    struct file file;

    make(&file);
    for (size_t size = 0; size < LINES_AT + 4 + sizeof unit; size++) {
        CHECK(ha_lines_read(file.bytes, size) == NULL);
    }
    file.bytes[NAMES_AT + 3] = 'x';
    CHECK(ha_lines_read(file.bytes, SIZE) == NULL);
}

int
main(void)
{
    test_rows_are_found();
    test_damaged_tables_are_read_or_refused();
    test_files_without_tables_have_none();
    return 0;
}
