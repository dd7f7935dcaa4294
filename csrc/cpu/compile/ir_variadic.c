/* SPDX-License-Identifier: MIT */
/* Functions that take variable arguments and never read them, as empty functions for
 * messages are: their calls pass what is named.
 *
 *     define void @say(ptr %0, ...) {       ->     define void @say(ptr %0) {
 *     call void (ptr, ...) @say(ptr %a,     ->     call void @say(ptr %a)
 *         i32 %b)
 *
 * A function that reads them is refused, and so is a call by an address. */
#include <string.h>

#include "cpu/compile/ir_text.h"

#define ANY "..."

/* "(ptr %0, ...)" and "(...)" */
static bool
ends_in_any(struct ir_slice list)
{
    return list.size >= strlen("(" ANY ")") &&
           memcmp(list.at + list.size - strlen(ANY ")"), ANY ")", strlen(ANY ")")) == 0;
}

/* The parameters of a define line, in brackets; empty if it has none. */
static struct ir_slice
parameters_of(struct ir_arena *arena, struct ir_slice line, struct ir_slice *name)
{
    size_t at = ir_find(line, "@", 0);

    if (at == SIZE_MAX) {
        return (struct ir_slice){0};
    }
    *name = ir_token(line, at);
    size_t open = at + name->size;
    return open < line.size && line.at[open] == '('
               ? ir_part(line, open, ir_close(arena, line, open))
               : (struct ir_slice){0};
}

static size_t
offset_of(struct ir_slice line, struct ir_slice part)
{
    return (size_t)(part.at - line.at);
}

/* The list without its last entry, which is "...". */
static void
put_named(struct ir_out *out, struct ir_slice list)
{
    size_t size = list.size - strlen(ANY ")");

    while (size > 1 && (list.at[size - 1] == ' ' || list.at[size - 1] == ',')) {
        size--;
    }
    ir_put(out, ir_part(list, 0, size));
    ir_print(out, ")");
}

/* The first `count` arguments of a list in brackets. */
static void
put_arguments(struct ir_out *out, struct ir_slice list, uint32_t count)
{
    uint32_t given;
    struct ir_slice inner = ir_part(list, 1, list.size - 1);
    struct ir_slice *parts = ir_split(out->arena, inner, &given);

    ir_print(out, "(");
    for (uint32_t i = 0; i < count && i < given; i++) {
        ir_print(out, i > 0 ? ", " : "");
        ir_put(out, ir_trim(parts[i]));
    }
    ir_print(out, ")");
}

/* "call ... T (P, ...) @f(A) ...", if @f is one of `known`. */
static void
put_call(struct ir_out *out, const struct ir_map *known, struct ir_slice line)
{
    uint32_t count;
    struct ir_arena *arena = out->arena;
    size_t any = ir_find(line, ANY ") ", 0);

    size_t at = any + strlen(ANY ") ");
    if (any == SIZE_MAX || at >= line.size) {
        ir_put(out, line);
        return;
    }
    struct ir_slice name = ir_token(line, at);
    size_t open = at + name.size;
    if (line.at[at] == '%') {
        ir_fail(arena, HA_ERROR_UNSUPPORTED,
                "a call by an address passes variable arguments: %.*s",
                IR_ARGS(ir_trim(line)));
    }
    if (open >= line.size || line.at[open] != '(' || !ir_map_get(known, name, &count)) {
        ir_put(out, line);
        return;
    }
    size_t type = any;
    while (type > 0 && line.at[type] != '(') {
        type--; /* types of parameters have no such brackets */
    }
    size_t close = ir_close(arena, line, open);
    ir_put(out, ir_part(line, 0, type));
    ir_put(out, name);
    put_arguments(out, ir_part(line, open, close), count);
    ir_put(out, ir_part(line, close, line.size));
}

/* How many of the parameters have names. */
static uint32_t
count_named(struct ir_arena *arena, struct ir_slice list)
{
    uint32_t count;

    (void)ir_split(arena, ir_part(list, 1, list.size - 1), &count);
    return count - 1;
}

struct ir_slice
ir_without_variadics(struct ir_arena *arena, struct ir_slice text)
{
    struct ir_map known = {.arena = arena};
    struct ir_out out = {.arena = arena};
    struct ir_slice line, name, list;

    for (size_t at = 0; ir_next_line(text, &at, &line);) {
        if (ir_begins(line, "define ") && ir_find(line, ANY ")", 0) != SIZE_MAX) {
            list = parameters_of(arena, line, &name);
            if (ends_in_any(list)) {
                ir_map_set(&known, name, count_named(arena, list));
            }
        }
    }
    if (known.count == 0) {
        return text;
    }
    bool inside = false; /* a function that takes them */
    for (size_t at = 0; ir_next_line(text, &at, &line);) {
        ir_poll(arena);
        if (ir_begins(line, "define ")) {
            list = parameters_of(arena, line, &name);
            inside = ends_in_any(list);
            if (inside) {
                ir_put(&out, ir_part(line, 0, offset_of(line, list)));
                put_named(&out, list);
                ir_put(&out,
                       ir_part(line, offset_of(line, list) + list.size, line.size));
                continue;
            }
        } else if (inside && ir_find(line, "@llvm.va_start", 0) != SIZE_MAX) {
            ir_fail(arena, HA_ERROR_UNSUPPORTED,
                    "function %.*s takes variable arguments", IR_ARGS(name));
        } else if (ir_begins(line, " ") && ir_find(line, "call ", 0) != SIZE_MAX) {
            put_call(&out, &known, line);
            continue;
        }
        ir_put(&out, line);
    }
    return (struct ir_slice){out.text, out.size};
}
