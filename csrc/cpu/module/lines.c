/* SPDX-License-Identifier: MIT */
#include "cpu/module/lines.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MOST 65536u
#define SECTION ".debug_line"
#define LEB_BITS 63u

struct row {
    uint64_t offset;
    const char *name;
    uint32_t line, column;
};

struct ha_lines {
    char *bytes; /* owned: the section */
    size_t size;
    struct row *rows; /* owned, by offset */
    size_t count, room;
};

/* A program of a line table is read: what is left of it. */
struct reader {
    const uint8_t *at, *end;
    bool failed; /* it ends too early */
};

/* The registers of DWARF's machine, and the head of the program. */
struct machine {
    struct ha_lines *lines;
    const char **files; /* owned, from 1 */
    uint32_t file_count;
    struct row row;
    uint32_t file;
    uint8_t step; /* minimum_instruction_length */
    int8_t line_base;
    uint8_t line_range, opcode_base;
    const uint8_t *lengths; /* of standard opcodes */
};

static uint64_t
read_number(struct reader *reader, unsigned bytes)
{
    uint64_t value = 0;

    if ((size_t)(reader->end - reader->at) < bytes) {
        reader->failed = true;
        reader->at = reader->end;
        return 0;
    }
    memcpy(&value, reader->at, bytes); /* both are little endian */
    reader->at += bytes;
    return value;
}

static uint64_t
read_leb(struct reader *reader, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)read_number(reader, 1);
        if (shift < LEB_BITS) {
            value |= (uint64_t)(byte & 0x7f) << shift;
        }
        shift += 7;
    } while ((byte & 0x80) != 0 && !reader->failed);
    if (is_signed && (byte & 0x40) != 0 && shift < LEB_BITS) {
        value |= ~(uint64_t)0 << shift;
    }
    return value;
}

/* Empty at the end of a list. */
static const char *
read_name(struct reader *reader)
{
    const char *name = (const char *)reader->at;
    const uint8_t *end = memchr(reader->at, 0, (size_t)(reader->end - reader->at));

    if (end == NULL) {
        reader->failed = true;
        reader->at = reader->end;
        return "";
    }
    reader->at = end + 1;
    return name;
}

/* ---- programs ---- */

static bool
add_row(struct machine *machine, uint32_t line)
{
    struct ha_lines *lines = machine->lines;

    if (lines->count == lines->room) {
        size_t room = 2 * lines->room + 64;
        struct row *grown = realloc(lines->rows, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        lines->rows = grown;
        lines->room = room;
    }
    struct row *row = &lines->rows[lines->count++];
    bool named = machine->file > 0 && machine->file <= machine->file_count;
    *row = machine->row;
    row->line = named ? line : 0;
    row->name = named ? machine->files[machine->file - 1] : "";
    return true;
}

static void
reset(struct machine *machine)
{
    machine->row = (struct row){.line = 1};
    machine->file = 1;
}

/* An opcode that says its length. */
static bool
run_extended(struct machine *machine, struct reader *reader)
{
    uint64_t size = read_leb(reader, false);
    bool going = true;

    if (reader->failed || size == 0 || size > (uint64_t)(reader->end - reader->at)) {
        return false;
    }
    const uint8_t *behind = reader->at + size;
    switch (read_number(reader, 1)) {
    case 1: /* the end of a sequence */
        going = add_row(machine, 0);
        reset(machine);
        break;
    case 2: /* an address */
        machine->row.offset = read_number(reader, 8);
        break;
    default: /* discriminators, and what others define */
        break;
    }
    reader->at = behind;
    return going;
}

static bool
run_standard(struct machine *machine, struct reader *reader, uint8_t code)
{
    switch (code) {
    case 1:
        return add_row(machine, machine->row.line);
    case 2:
        machine->row.offset += machine->step * read_leb(reader, false);
        break;
    case 3:
        machine->row.line += (uint32_t)read_leb(reader, true);
        break;
    case 4:
        machine->file = (uint32_t)read_leb(reader, false);
        break;
    case 5:
        machine->row.column = (uint32_t)read_leb(reader, false);
        break;
    case 8:
        machine->row.offset += (uint64_t)machine->step *
                               ((255u - machine->opcode_base) / machine->line_range);
        break;
    case 9:
        machine->row.offset += read_number(reader, 2);
        break;
    default: /* what we need not know: skip its operands */
        for (unsigned i = 0; i < machine->lengths[code - 1]; i++) {
            (void)read_leb(reader, false);
        }
        break;
    }
    return true;
}

static bool
run_program(struct machine *machine, struct reader *reader)
{
    bool going = true;

    reset(machine);
    while (going && !reader->failed && reader->at < reader->end) {
        uint8_t code = (uint8_t)read_number(reader, 1);
        if (code >= machine->opcode_base) {
            uint32_t special = (uint32_t)code - machine->opcode_base;
            machine->row.offset +=
                (uint64_t)machine->step * (special / machine->line_range);
            machine->row.line +=
                (uint32_t)(machine->line_base + (int)(special % machine->line_range));
            going = add_row(machine, machine->row.line);
        } else if (code == 0) {
            going = run_extended(machine, reader);
        } else {
            going = run_standard(machine, reader, code);
        }
    }
    return going && !reader->failed;
}

static bool
read_files(struct machine *machine, struct reader *reader)
{
    uint32_t room = 0;

    while (read_name(reader)[0] != '\0' && !reader->failed) {
    } /* folders */
    for (;;) {
        const char *name = read_name(reader);
        if (name[0] == '\0' || reader->failed) {
            return !reader->failed;
        }
        for (unsigned i = 0; i < 3; i++) {
            (void)read_leb(reader, false); /* folder, time, bytes */
        }
        if (machine->file_count == room) {
            room = 2 * room + 16;
            const char **grown = realloc(machine->files, room * sizeof *machine->files);
            if (grown == NULL || room > FILES_MOST) {
                free(grown);
                machine->files = NULL;
                return false;
            }
            machine->files = grown;
        }
        machine->files[machine->file_count++] = name;
    }
}

/* One unit, behind its length. */
static bool
read_unit(struct ha_lines *lines, struct reader unit)
{
    struct machine machine = {.lines = lines};
    uint64_t version = read_number(&unit, 2);
    uint64_t head = read_number(&unit, 4);

    if (unit.failed || version != 4 || head > (uint64_t)(unit.end - unit.at)) {
        return false;
    }
    struct reader program = {.at = unit.at + head, .end = unit.end};
    unit.end = program.at;
    machine.step = (uint8_t)read_number(&unit, 1);
    (void)read_number(&unit, 2); /* operations of an instruction; is_stmt */
    machine.line_base = (int8_t)read_number(&unit, 1);
    machine.line_range = (uint8_t)read_number(&unit, 1);
    machine.opcode_base = (uint8_t)read_number(&unit, 1);
    if (unit.failed || machine.line_range == 0 || machine.opcode_base == 0 ||
        (size_t)(unit.end - unit.at) < machine.opcode_base - 1u) {
        return false;
    }
    machine.lengths = unit.at;
    unit.at += machine.opcode_base - 1u;
    bool read = read_files(&machine, &unit) && run_program(&machine, &program);
    free(machine.files);
    return read;
}

static bool
read_units(struct ha_lines *lines)
{
    struct reader reader = {.at = (const uint8_t *)lines->bytes,
                            .end = (const uint8_t *)lines->bytes + lines->size};

    while (reader.at < reader.end) {
        uint64_t size = read_number(&reader, 4);
        if (reader.failed || size > (uint64_t)(reader.end - reader.at)) {
            return false;
        }
        struct reader unit = {.at = reader.at, .end = reader.at + size};
        if (!read_unit(lines, unit)) {
            return false;
        }
        reader.at += size;
    }
    return true;
}

/* ---- the file ---- */

static bool
lies_in(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* The section's bytes; false where there are none. */
static bool
find_section(const char *elf, size_t size, const char **bytes, size_t *found)
{
    const Elf64_Ehdr *head = (const void *)elf;
    uint64_t tables = (uint64_t)head->e_shnum * sizeof(Elf64_Shdr);

    if (!lies_in(head->e_shoff, tables, size) || head->e_shstrndx >= head->e_shnum ||
        head->e_shoff % 8 != 0) {
        return false;
    }
    const Elf64_Shdr *sections = (const void *)(elf + head->e_shoff);
    const Elf64_Shdr *names = &sections[head->e_shstrndx];
    if (!lies_in(names->sh_offset, names->sh_size, size)) {
        return false;
    }
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        uint64_t name = section->sh_name;
        if (lies_in(name, sizeof SECTION, names->sh_size) &&
            memcmp(elf + names->sh_offset + name, SECTION, sizeof SECTION) == 0 &&
            section->sh_type == SHT_PROGBITS &&
            lies_in(section->sh_offset, section->sh_size, size)) {
            *bytes = elf + section->sh_offset;
            *found = section->sh_size;
            return true;
        }
    }
    return false;
}

static int
compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->offset != b->offset) {
        return a->offset < b->offset ? -1 : 1;
    }
    /* Where one sequence ends another may begin: the latter counts. */
    return (a->line > 0) - (b->line > 0);
}

struct ha_lines *
ha_lines_read(const void *elf, size_t size)
{
    const char *bytes;
    size_t found;

    if (size < sizeof(Elf64_Ehdr) || !find_section(elf, size, &bytes, &found)) {
        return NULL;
    }
    struct ha_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        return NULL;
    }
    lines->bytes = malloc(found);
    lines->size = found;
    if (lines->bytes != NULL) {
        memcpy(lines->bytes, bytes, found);
    }
    if (lines->bytes == NULL || !read_units(lines)) {
        ha_lines_free(lines);
        return NULL;
    }
    if (lines->count > 0) {
        qsort(lines->rows, lines->count, sizeof *lines->rows, compare_rows);
    }
    return lines;
}

void
ha_lines_free(struct ha_lines *lines)
{
    if (lines != NULL) {
        free(lines->rows);
        free(lines->bytes);
        free(lines);
    }
}

struct ha_line_place
ha_lines_find(const struct ha_lines *lines, uint64_t offset)
{
    size_t low = 0, high = lines->count; /* the row before `low` is not behind it */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->rows[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return (struct ha_line_place){.name = ""};
    }
    const struct row *row = &lines->rows[low - 1];
    return (struct ha_line_place){row->name, row->line, row->column};
}
