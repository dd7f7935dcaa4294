/* SPDX-License-Identifier: MIT */
/* Text of traces: UTF-8, JSON strings and numbers, written to memory that has room.
 *
 * Names are bytes that anybody made.  What is no UTF-8 becomes U+FFFD, one for each
 * longest piece that could have begun a character, as Python's `errors="replace"` does
 * it; so every reader gets valid text, and two readers get the same.  Nothing here
 * looks at the locale. */
#ifndef HA_TOOL_TEXT_H
#define HA_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    HA_JSON_GROWTH = 6, /* bytes of a JSON string for a byte of text, at most */
    HA_UTF8_GROWTH = 3,
    HA_NUMBER_BYTES = 32, /* of any number */
};

/* The number of bytes of the character that begins here; negative: so many that began
 * none.  `left` is not 0. */
int ha_text_character(const unsigned char *at, size_t left);

/* The text as UTF-8, and as the inside of a JSON string.  They return the end; `to` has
 * room for `bytes` times the growth, and 8 more that may be written to. */
char *ha_text_utf8(char *to, const char *text, size_t bytes);
char *ha_text_json(char *to, const char *text, size_t bytes);

/* A path with the process's number for each `%p`.  False: it has more than `bytes`. */
bool ha_text_path(const char *pattern, char *path, size_t bytes);

/* A double as JSON: the shortest text that reads back the same; null where it is not
 * finite. */
char *ha_text_double(char *to, double value);

/* The value of a JSON number. */
double ha_text_to_double(const char *text, size_t bytes);

/* The end of the JSON value that the text begins with, after spaces; NULL where it
 * begins with none.  Nesting deeper than 64 counts as none. */
const char *ha_json_skip(const char *text);

/* The text of a valid JSON string, which begins behind the quote at `text`; returns the
 * end of what it wrote, which is no longer than the string.  Halves of pairs become
 * U+FFFD. */
char *ha_json_unescape(char *to, const char *text);

extern const char ha_digit_pairs[200]; /* 00 01 .. 99 */
extern const uint64_t ha_powers_of_ten[20];

static inline char *
ha_text_put(char *to, const char *text, size_t bytes)
{
    memcpy(to, text, bytes);
    return to + bytes;
}

/* A JSON string with its quotes, which are two bytes more. */
static inline char *
ha_text_quoted(char *to, const char *text, size_t bytes)
{
    *to++ = '"';
    to = ha_text_json(to, text, bytes);
    *to++ = '"';
    return to;
}

/* A literal. */
#define HA_PUT(to, literal) ((to) = ha_text_put((to), (literal), sizeof(literal) - 1))

/* The number of digits, from that of bits. */
static inline unsigned
ha_text_digits(uint64_t value)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned digits = bits * 1233 >> 12; /* log10(2) is about 1233 / 4096 */

    return digits + (value >= ha_powers_of_ten[digits]);
}

static inline char *
ha_text_uint(char *to, uint64_t value)
{
    char *end = to + (value > 0 ? ha_text_digits(value) : 1);
    char *at = end;

    while (value >= 100) {
        at -= 2;
        memcpy(at, &ha_digit_pairs[2 * (value % 100)], 2);
        value /= 100;
    }
    if (value >= 10) {
        memcpy(at - 2, &ha_digit_pairs[2 * value], 2);
    } else {
        at[-1] = (char)('0' + value);
    }
    return end;
}

static inline char *
ha_text_int(char *to, int64_t value)
{
    if (value < 0) {
        *to++ = '-';
    }
    return ha_text_uint(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Thousandths, as "12.345". */
static inline char *
ha_text_milli(char *to, uint64_t value)
{
    uint32_t rest = (uint32_t)(value % 1000);

    to = ha_text_uint(to, value / 1000);
    *to++ = '.';
    *to++ = (char)('0' + rest / 100);
    return ha_text_put(to, &ha_digit_pairs[2 * (rest % 100)], 2);
}

/* Whether the text is one JSON value (RFC 8259). */
bool ha_json_is_value(const char *text);

/* Whether the text is members of a JSON object, without its brackets: what `args` of a
 * slice must be. */
bool ha_json_is_members(const char *text);

#endif
