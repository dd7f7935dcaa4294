/* SPDX-License-Identifier: MIT */
#include "cpu/compile/name_expression.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 256u

static bool
is_word(char c)
{
    /* Bytes above ASCII are letters of identifiers. */
    return isalnum((unsigned char)c) || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* Behind a word or number that begins at `at`.  Quotes between digits part them. */
static const char *
skip_word(const char *at)
{
    bool number = isdigit((unsigned char)*at) != 0;

    while (is_word(*at) || (number && *at == '.') ||
           (number && *at == '\'' && is_word(at[1]))) {
        at++;
    }
    return at;
}

/* Behind a literal whose first quote is at `at`; NULL if it does not end. */
static const char *
skip_literal(const char *at)
{
    char quote = *at++;

    while (*at != quote) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        }
        if (*at == '\0' || *at == '\n' || *at == '\r') {
            return NULL;
        }
        at++;
    }
    return at + 1;
}

/* What no expression has outside of literals, or what could hide from this reading. */
static const char *
forbidden(const char *at)
{
    static const struct {
        const char *text, *why;
    } table[] = {
        {";", "it holds a ';'"},      {"#", "it holds a '#'"},
        {"%:", "it holds a '%:'"},    {"\\", "it holds a backslash"},
        {"//", "it holds a comment"}, {"/*", "it holds a comment"},
        {"?\?", "it holds '?\?'"},    {"@", "it holds a '@'"},
        {"`", "it holds a '`'"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strncmp(at, table[i].text, strlen(table[i].text)) == 0) {
            return table[i].why;
        }
    }
    return iscntrl((unsigned char)*at) && !isspace((unsigned char)*at)
               ? "it holds a control character"
               : NULL;
}

/* Behind an operator in which `<` or `>` is no bracket of a template, or NULL. */
static const char *
skip_operator(const char *at)
{
    static const char *const operators[] = {"->", "<=", ">=", "<<"};

    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (strncmp(at, operators[i], 2) == 0) {
            return at + 2;
        }
    }
    return NULL;
}

const char *
ha_name_expression_check(const char *text)
{
    static const char opening[] = "([{", closing[] = ")]}";
    char open[DEPTH_MAX];
    unsigned depth = 0, angles = 0;
    bool empty = true;
    const char *at = text;

    while (*at != '\0') {
        const char *why = forbidden(at);
        const char *bracket;
        if (why != NULL) {
            return why;
        }
        empty &= isspace((unsigned char)*at) || *at == '&';
        if (is_word(*at)) {
            const char *end = skip_word(at);
            size_t size = (size_t)(end - at);
            if (*end == '"' && end[-1] == 'R') {
                return "it holds a raw literal";
            }
            if (size >= 7 && memcmp(at, "_Pragma", 7) == 0) {
                return "it holds a pragma";
            }
            at = end;
            continue;
        }
        if (*at == '"' || *at == '\'') {
            at = skip_literal(at);
            if (at == NULL) {
                return "it holds a literal that does not end";
            }
            continue;
        }
        const char *behind = skip_operator(at);
        if (behind != NULL) {
            at = behind;
            continue;
        }
        if (depth == 0 && *at == ',' && angles == 0) {
            return "it holds a ',' outside of brackets";
        }
        angles += depth == 0 && *at == '<';
        angles -= depth == 0 && *at == '>' && angles > 0;
        if (strchr(opening, *at) != NULL) {
            if (depth == DEPTH_MAX) {
                return "its brackets are nested too deeply";
            }
            open[depth++] = *at;
        } else if ((bracket = strchr(closing, *at)) != NULL) {
            if (depth == 0 || open[--depth] != opening[bracket - closing]) {
                return "it closes a bracket that it did not open";
            }
        }
        at++;
    }
    return depth > 0 ? "it leaves a bracket open" : empty ? "it names nothing" : NULL;
}
