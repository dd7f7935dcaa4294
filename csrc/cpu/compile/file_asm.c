/* SPDX-License-Identifier: MIT */
#include "cpu/compile/file_asm.h"

#include <ctype.h>
#include <string.h>

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool
begins(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);

    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0;
}

bool
ha_file_asm_possible(const char *text, size_t size)
{
    static const char *const inner[] = {"volatile", "__volatile", "goto", "inline"};
    const char *end = text + size;

    for (const char *at = text;
         (at = memmem(at, (size_t)(end - at), "asm", 3)) != NULL;) {
        const char *before = at;
        while (before > text && before[-1] == '_') {
            before--;
        }
        at += 3;
        while (at < end && *at == '_') {
            at++;
        }
        if ((before > text && is_word(before[-1])) || (at < end && is_word(*at))) {
            continue; /* a part of another word */
        }
        const char *next = at;
        while (next < end && isspace((unsigned char)*next)) {
            next++;
        }
        bool in_function = false;
        for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
            in_function |= begins(next, end, inner[i]);
        }
        if (!in_function) {
            return true;
        }
    }
    return false;
}

/* Statements are printed as `asm volatile (` or `asm (`, names of functions as
 * ` asm("name")`; literals have no line break in them. */
const char *
ha_file_asm_find(const char *printed, size_t size, size_t *length)
{
    static const char word[] = "__asm (";
    const char *end = printed + size;
    const char *line_end;

    for (const char *line = printed; line < end; line = line_end + 1) {
        char quote = '\0';
        line_end = memchr(line, '\n', (size_t)(end - line));
        line_end = line_end != NULL ? line_end : end;
        for (const char *at = line; at < line_end; at++) {
            if (quote != '\0' && *at == '\\') {
                at++;
            } else if (quote != '\0') {
                quote = *at == quote ? '\0' : quote;
            } else if (*at == '"' || *at == '\'') {
                quote = *at;
            } else if (begins(at, line_end, word) && (at == line || !is_word(at[-1]))) {
                *length = (size_t)(line_end - at);
                return at;
            }
        }
    }
    return NULL;
}
