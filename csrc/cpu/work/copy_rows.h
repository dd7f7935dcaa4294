/* SPDX-License-Identifier: MIT */
/* The innermost loops of copies and fills: rows, of all slices, numbered through.
 *
 * A row is copied as memmove does it, and rows one after the other, so copies whose
 * sides overlap give the same bytes however wide a row is.  No locks. */
#ifndef HA_CPU_WORK_COPY_ROWS_H
#define HA_CPU_WORK_COPY_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct ha_copy;

/* Copies the rows [first, first + count). */
void ha_copy_rows(const struct ha_copy *copy, size_t first, size_t count);

/* Fills them with the lowest element_bytes (1, 2 or 4) of `value`; the width is a
 * multiple of it, and the source is not looked at. */
void ha_fill_rows(const struct ha_copy *copy, size_t first, size_t count,
                  uint32_t value, uint32_t element_bytes);

/* Fills `bytes` at dst, a multiple of the element. */
void ha_fill_bytes(void *dst, size_t bytes, uint32_t value, uint32_t element_bytes);

#endif
