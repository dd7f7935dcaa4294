/* SPDX-License-Identifier: MIT */
#include "cpu/check/writer.h"

#include <string.h>

#define DIGITS_MAX 20 /* of 64 bits */

static void
put_as_it_is(struct ha_writer *writer, const char *bytes, size_t size)
{
    if (writer->text != NULL && writer->needed < writer->room) {
        size_t room = writer->room - writer->needed;
        memcpy(writer->text + writer->needed, bytes, size < room ? size : room);
    }
    writer->needed += size;
}

/* A byte of text without control characters but ends of lines. */
static void
put_quoted(struct ha_writer *writer, char byte)
{
    char pair[2] = {'\\', byte == '\n' ? 'n' : byte};
    bool escaped = byte == '"' || byte == '\\' || byte == '\n';

    put_as_it_is(writer, escaped ? pair : &byte, escaped ? 2 : 1);
}

void
ha_put_bytes(struct ha_writer *writer, const char *bytes, size_t size)
{
    if (!writer->quoted) {
        put_as_it_is(writer, bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        put_quoted(writer, bytes[i]);
    }
}

void
ha_put(struct ha_writer *writer, const char *text)
{
    ha_put_bytes(writer, text, strlen(text));
}

void
ha_put_times(struct ha_writer *writer, char sign, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        ha_put_bytes(writer, &sign, 1);
    }
}

void
ha_put_number(struct ha_writer *writer, uint64_t value)
{
    char digits[DIGITS_MAX];
    size_t count = 0;

    do {
        digits[DIGITS_MAX - ++count] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    ha_put_bytes(writer, digits + DIGITS_MAX - count, count);
}

static void
put_digits(struct ha_writer *writer, uint64_t value, unsigned digits)
{
    for (unsigned left = digits; left > 0; left--) {
        ha_put_bytes(writer, &"0123456789abcdef"[value >> (4 * left - 4) & 15], 1);
    }
}

void
ha_put_hex(struct ha_writer *writer, uint64_t value)
{
    unsigned digits = 1;

    while (digits < 16 && value >> (4 * digits) != 0) {
        digits++;
    }
    ha_put(writer, "0x");
    put_digits(writer, value, digits);
}

void
ha_put_count(struct ha_writer *writer, uint64_t count, const char *noun)
{
    ha_put_number(writer, count);
    ha_put(writer, " ");
    ha_put(writer, noun);
    if (count != 1) {
        ha_put(writer, "s");
    }
}

/* The least code that takes `size` bytes; shorter forms are no UTF-8. */
static uint32_t
least_code(size_t size)
{
    return size == 2 ? 0x80 : size == 3 ? 0x800 : 0x10000;
}

/* The code of the character, and its size; 0 bytes where there is none. */
static uint32_t
utf8_read(const char *text, size_t *size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned first = bytes[0];

    if (first < 0x80) {
        *size = 1;
        return first;
    }
    size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t code = first & (0xffu >> (count + 1));
    *size = 0;
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xc0) != 0x80) { /* the NUL, too */
            return 0;
        }
        code = code << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < least_code(count) || code > 0x10ffff || surrogate) {
        return 0;
    }
    *size = count;
    return code;
}

size_t
ha_utf8_size(const char *text)
{
    size_t size;

    (void)utf8_read(text, &size);
    return size;
}

static bool
is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

void
ha_put_plain(struct ha_writer *writer, const char *text, size_t limit)
{
    size_t end = writer->needed + limit;

    for (size_t size; *text != '\0'; text += size) {
        uint32_t code = utf8_read(text, &size);
        if (writer->needed >= end) {
            ha_put(writer, "...");
            return;
        }
        if (size > 0 && !is_control(code)) {
            ha_put_bytes(writer, text, size);
            continue;
        }
        size = 1;
        ha_put(writer, "\\x");
        put_digits(writer, (unsigned char)*text, 2);
    }
}

static void
put_json_sign(struct ha_writer *writer, const char *text, size_t *size)
{
    uint32_t code = utf8_read(text, size);

    if (*size == 0) {
        *size = 1;
        ha_put(writer, "\xef\xbf\xbd");
    } else if (code == '"' || code == '\\') {
        ha_put(writer, "\\");
        ha_put_bytes(writer, text, 1);
    } else if (code == '\n' || code == '\t') {
        ha_put(writer, code == '\n' ? "\\n" : "\\t");
    } else if (is_control(code)) {
        ha_put(writer, "\\u");
        put_digits(writer, code, 4);
    } else {
        ha_put_bytes(writer, text, *size);
    }
}

void
ha_put_json(struct ha_writer *writer, const char *text, size_t limit)
{
    size_t end = writer->needed + limit;

    ha_put(writer, "\"");
    for (size_t size; *text != '\0'; text += size) {
        if (writer->needed >= end) {
            ha_put(writer, "...");
            break;
        }
        put_json_sign(writer, text, &size);
    }
    ha_put(writer, "\"");
}
