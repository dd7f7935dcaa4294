/* SPDX-License-Identifier: MIT */
#include "tool/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXACT 9007199254740992.0 /* whole numbers below it are exact */
enum { NESTING_MAX = 64 };

const char ha_digit_pairs[200] = {
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
    "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
    "828384858687888990919293949596979899"};

const uint64_t ha_powers_of_ten[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

/* ---- characters ---- */

int
ha_text_character(const unsigned char *at, size_t left)
{
    unsigned low = 0x80, high = 0xBF; /* of the second byte */
    int more;

    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] < 0xC2 || at[0] > 0xF4) {
        return -1;
    }
    more = at[0] < 0xE0 ? 1 : at[0] < 0xF0 ? 2 : 3;
    if (at[0] == 0xE0) {
        low = 0xA0;
    } else if (at[0] == 0xED) {
        high = 0x9F; /* no surrogates */
    } else if (at[0] == 0xF0) {
        low = 0x90;
    } else if (at[0] == 0xF4) {
        high = 0x8F;
    }
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= left || at[i] < low || at[i] > high) {
            return -i;
        }
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

/* Copies one character that is not ASCII, or U+FFFD; moves `from` on. */
static char *
put_character(char *to, const unsigned char **from, const unsigned char *end)
{
    int bytes = ha_text_character(*from, (size_t)(end - *from));

    if (bytes < 0) {
        *from += -bytes;
        return ha_text_put(to, "\xEF\xBF\xBD", 3);
    }
    to = ha_text_put(to, (const char *)*from, (size_t)bytes);
    *from += bytes;
    return to;
}

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* The high bit of each byte that is 0; others' only above one that is. */
static uint64_t
zeros(uint64_t word)
{
    return (word - ONES) & ~word & HIGHS;
}

/* Eight bytes that stand for themselves within a JSON string. */
static bool
plain_json(uint64_t word)
{
    uint64_t control = (word - ONES * 0x20) & ~word; /* below 0x20 */

    return ((word | control) & HIGHS) == 0 && zeros(word ^ ONES * '"') == 0 &&
           zeros(word ^ ONES * '\\') == 0;
}

static char *
escape(char *to, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_names[] = "btn.fr"; /* from \b on; \v has none */

    *to++ = '\\';
    if (byte == '"' || byte == '\\') {
        *to++ = (char)byte;
    } else if (byte >= '\b' && byte <= '\r' && byte != '\v') {
        *to++ = short_names[byte - '\b'];
    } else {
        HA_PUT(to, "u00");
        *to++ = hex[byte >> 4];
        *to++ = hex[byte & 15];
    }
    return to;
}

char *
ha_text_json(char *to, const char *text, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    const unsigned char *end = from + bytes;

    while (from < end) {
        uint64_t word;
        if (end - from >= 8) {
            memcpy(&word, from, 8);
            if (plain_json(word)) {
                memcpy(to, &word, 8);
                to += 8;
                from += 8;
                continue;
            }
        }
        for (int i = 0; i < 8 && from < end; i++) {
            if (*from >= 0x80) {
                to = put_character(to, &from, end);
            } else if (*from < 0x20 || *from == '"' || *from == '\\') {
                to = escape(to, *from++);
            } else {
                *to++ = (char)*from++;
            }
        }
    }
    return to;
}

char *
ha_text_utf8(char *to, const char *text, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    const unsigned char *end = from + bytes;

    while (from < end) {
        uint64_t word;
        if (end - from >= 8) {
            memcpy(&word, from, 8);
            if ((word & HIGHS) == 0) {
                memcpy(to, &word, 8);
                to += 8;
                from += 8;
                continue;
            }
        }
        if (*from >= 0x80) {
            to = put_character(to, &from, end);
        } else {
            *to++ = (char)*from++;
        }
    }
    return to;
}

/* ---- numbers ---- */

/* printf's and strtod's decimal point is the locale's, of one or more bytes. */
static char *
with_point(char *to, const char *text)
{
    bool pointed = false;

    for (; *text != '\0'; text++) {
        if (strchr("0123456789+-e", *text) != NULL) {
            *to++ = *text;
            pointed = false;
        } else if (!pointed) {
            *to++ = '.';
            pointed = true;
        }
    }
    return to;
}

char *
ha_text_double(char *to, double value)
{
    char text[64];

    if (!isfinite(value)) {
        return ha_text_put(to, "null", 4);
    }
    if (value > -EXACT && value < EXACT && value == (double)(int64_t)value) {
        return ha_text_int(to, (int64_t)value);
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return with_point(to, text);
}

double
ha_text_to_double(const char *text, size_t bytes)
{
    const char *point = localeconv()->decimal_point;
    char copy[512];
    char *to = copy;

    for (size_t i = 0; i < bytes && to < copy + sizeof copy - 16; i++) {
        if (text[i] == '.') {
            to = ha_text_put(to, point, strnlen(point, 8));
        } else {
            *to++ = text[i];
        }
    }
    *to = '\0';
    return strtod(copy, NULL);
}

/* ---- JSON that others made ---- */

static const char *
skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *
skip_string(const char *at)
{
    if (*at++ != '"') {
        return NULL;
    }
    while (*at != '"') {
        int bytes = ha_text_character((const unsigned char *)at, 4);
        if (bytes < 0 || (unsigned char)*at < 0x20) {
            return NULL;
        }
        if (*at != '\\') {
            at += bytes;
        } else if (at[1] == 'u') {
            if (strspn(at + 2, "0123456789abcdefABCDEF") < 4) {
                return NULL;
            }
            at += 6;
        } else {
            if (at[1] == '\0' || strchr("\"\\/bfnrt", at[1]) == NULL) {
                return NULL;
            }
            at += 2;
        }
    }
    return at + 1;
}

static const char *
skip_digits(const char *at)
{
    size_t count = at != NULL ? strspn(at, "0123456789") : 0;

    return count > 0 ? at + count : NULL;
}

static const char *
skip_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at != NULL && *at == '.') {
        at = skip_digits(at + 1);
    }
    if (at != NULL && (*at == 'e' || *at == 'E')) {
        at++;
        at = skip_digits(at + (*at == '+' || *at == '-'));
    }
    return at;
}

static const char *skip_value(const char *at, int depth);

/* Members or elements up to the closing bracket; '\0' closes what has no brackets. */
static const char *
skip_list(const char *at, char close, int depth)
{
    at = skip_space(at);
    if (*at == close) {
        return at + 1;
    }
    for (;;) {
        if (close != ']') {
            at = skip_string(skip_space(at));
            at = at != NULL ? skip_space(at) : NULL;
            if (at == NULL || *at++ != ':') {
                return NULL;
            }
        }
        at = skip_value(at, depth + 1);
        if (at == NULL) {
            return NULL;
        }
        at = skip_space(at);
        if (*at == close) {
            return at + 1;
        }
        if (*at++ != ',') {
            return NULL;
        }
    }
}

static const char *
skip_value(const char *at, int depth)
{
    at = skip_space(at);
    if (depth > NESTING_MAX) {
        return NULL;
    }
    switch (*at) {
    case '{':
        return skip_list(at + 1, '}', depth);
    case '[':
        return skip_list(at + 1, ']', depth);
    case '"':
        return skip_string(at);
    case 't':
        return strncmp(at, "true", 4) == 0 ? at + 4 : NULL;
    case 'f':
        return strncmp(at, "false", 5) == 0 ? at + 5 : NULL;
    case 'n':
        return strncmp(at, "null", 4) == 0 ? at + 4 : NULL;
    default:
        return skip_number(at);
    }
}

static uint32_t
hex_digits(const char *at)
{
    char digits[5] = {at[0], at[1], at[2], at[3], '\0'};

    return (uint32_t)strtoul(digits, NULL, 16);
}

static char *
put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12);
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* One escape, `text` behind its backslash; moves it on. */
static char *
unescape(char *to, const char **text)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    const char *at = *text;
    const char *named = strchr(from, *at);

    *text = at + 1;
    if (*at != 'u') {
        *to++ = named != NULL ? into[named - from] : *at;
        return to;
    }
    uint32_t code = hex_digits(at + 1);
    *text = at + 5;
    if (code >= 0xD800 && code < 0xDC00 && at[5] == '\\' && at[6] == 'u') {
        uint32_t low = hex_digits(at + 7);
        if (low >= 0xDC00 && low < 0xE000) {
            *text = at + 11;
            return put_code(to, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
        }
    }
    return put_code(to, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
}

char *
ha_json_unescape(char *to, const char *text)
{
    while (*text != '"') {
        if (*text == '\\') {
            text++;
            to = unescape(to, &text);
        } else {
            *to++ = *text++;
        }
    }
    return to;
}

const char *
ha_json_skip(const char *text)
{
    return skip_value(text, 0);
}

bool
ha_json_is_value(const char *text)
{
    const char *end = ha_json_skip(text);

    return end != NULL && *skip_space(end) == '\0';
}

bool
ha_json_is_members(const char *text)
{
    return skip_list(text, '\0', 0) != NULL;
}

/* ---- paths ---- */

bool
ha_text_path(const char *pattern, char *path, size_t bytes)
{
    size_t at = 0;

    for (const char *from = pattern; *from != '\0'; from++) {
        bool number = from[0] == '%' && from[1] == 'p';
        int put = number ? snprintf(path + at, bytes - at, "%ld", (long)getpid())
                         : snprintf(path + at, bytes - at, "%c", *from);
        if (put < 0 || (size_t)put >= bytes - at) {
            return false;
        }
        at += (size_t)put;
        from += number;
    }
    return true;
}
