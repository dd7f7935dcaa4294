/* SPDX-License-Identifier: MIT */
/* Element types of arrays: the three spellings that reach us, in one struct.
 *
 * Spellings: array-interface typestr ("<f4", "|u1", "<M8[ns]"), numpy names and type
 * codes
 * ("float32", "f", ">i8") and buffer formats of PEP 3118 ("B", "<i", "Zd").  No Python
 * object is touched and nothing is allocated. */
#ifndef HA_ADAPTERS_FORMAT_H
#define HA_ADAPTERS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#define HA_FORMAT_UNIT_CHARS 12
#define HA_FORMAT_TEXT_CHARS 48

/* Element types that a typestr can't say: kind V, and one of these codes (those of
 * DLPack). ml_dtypes has them for numpy, under the names of ha_format_name. */
enum ha_extended {
    HA_EXTENDED_NONE = 0,
    HA_BFLOAT16 = 4,
    HA_FLOAT8_E3M4 = 7,
    HA_FLOAT8_E4M3 = 8,
    HA_FLOAT8_E4M3B11FNUZ = 9,
    HA_FLOAT8_E4M3FN = 10,
    HA_FLOAT8_E4M3FNUZ = 11,
    HA_FLOAT8_E5M2 = 12,
    HA_FLOAT8_E5M2FNUZ = 13,
    HA_FLOAT8_E8M0FNU = 14,
};

struct ha_format {
    char kind;              /* b i u f c S U V M m O, as in typestr */
    char order;             /* '<' '>' or '|' where order means nothing */
    unsigned char extended; /* enum ha_extended */
    ptrdiff_t size;         /* bytes of one element; 0 = the spelling does not say */
    char unit[HA_FORMAT_UNIT_CHARS]; /* of M and m: "[ns]", else "" */
};

/* Unsigned bytes, what memory without a type is. */
extern const struct ha_format ha_format_bytes;

/* Reads a typestr, numpy name or type code; false if it is none. */
bool ha_format_parse(const char *text, struct ha_format *out);
/* Reads a buffer format; anything it does not know becomes kind V. */
void ha_format_from_buffer(const char *text, ptrdiff_t itemsize, struct ha_format *out);
/* Reads a DLPack type; false if there is no such element type here. */
bool ha_format_from_dlpack(unsigned code, unsigned bits, unsigned lanes,
                           struct ha_format *out);
/* The DLPack type; false if DLPack has none for these elements. */
bool ha_format_to_dlpack(const struct ha_format *format, unsigned *code,
                         unsigned *bits);
/* Name of numpy or ml_dtypes, "float32" or "bfloat16"; NULL where a name does not say
 * it all. */
const char *ha_format_name(const struct ha_format *format);
/* Writes the typestr, e.g. "<f4". */
void ha_format_typestr(const struct ha_format *format, char text[HA_FORMAT_TEXT_CHARS]);
/* The buffer format: "B", "f", ">i"; "" where PEP 3118 has none. */
void ha_format_buffer(const struct ha_format *format, char text[HA_FORMAT_TEXT_CHARS]);
/* Whether the bytes of an element are in this machine's order. */
bool ha_format_is_native(const struct ha_format *format);
/* Same bytes, same meaning? */
bool ha_format_equal(const struct ha_format *left, const struct ha_format *right);

#endif
