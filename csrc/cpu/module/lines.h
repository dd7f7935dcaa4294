/* SPDX-License-Identifier: MIT */
/* Where the instructions of an image come from: its DWARF line tables, of version 4,
 * whose files are named by file, function and text of the line, one a line
 * (cpu/compile/rewrite_numbers.h).  A struct ha_lines is constant once it was read. */
#ifndef HA_CPU_MODULE_LINES_H
#define HA_CPU_MODULE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct ha_lines;

struct ha_line_place {
    const char *name; /* borrowed: "file\nfunction\ntext" */
    uint32_t line;    /* 0: not known */
    uint32_t column;
};

/* Of an ELF file that has passed ha_image_file_check.  Owned; NULL where it has none
 * that can be read, or there is no memory. */
struct ha_lines *ha_lines_read(const void *elf, size_t size);
void ha_lines_free(struct ha_lines *lines);

/* Of the instruction so many bytes behind the beginning of the image; line 0 for what
 * is outside of it.  May be called in handlers. */
struct ha_line_place ha_lines_find(const struct ha_lines *lines, uint64_t offset);

#endif
