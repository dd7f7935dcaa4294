/* SPDX-License-Identifier: MIT */
#include "cpu/compile/ir_operand.h"

#include <stdlib.h>
#include <string.h>

struct ir_slice
ir_without_attributes(struct ir_slice text, uint64_t *align)
{
    static const char *const plain[] = {"noundef ",   "nonnull ",  "readonly ",
                                        "writeonly ", "readnone ", "nocapture ",
                                        "noalias ",   "returned ", "immarg "};
    for (bool again = true; again;) {
        again = false;
        text = ir_trim(text);
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
            if (ir_begins(text, plain[i])) {
                text = ir_part(text, strlen(plain[i]), text.size);
                again = true;
            }
        }
        if (ir_begins(text, "align ")) {
            *align = strtoull(text.at + 6, NULL, 10);
            size_t behind = ir_find(text, " ", 6);
            text = ir_part(text, behind == SIZE_MAX ? text.size : behind, text.size);
            again = true;
        }
        if (ir_begins(text, "dereferenceable")) {
            size_t behind = ir_find(text, ") ", 0);
            text =
                ir_part(text, behind == SIZE_MAX ? text.size : behind + 1, text.size);
            again = true;
        }
    }
    return text;
}

bool
ir_address_read(struct ir_slice text, struct ir_address *place)
{
    *place = (struct ir_address){0};
    text = ir_trim(text);
    if (!ir_begins(text, "ptr ")) {
        return false;
    }
    text = ir_trim(ir_part(text, 3, text.size));
    if (ir_begins(text, "addrspace(")) {
        place->space = (uint32_t)strtoul(text.at + 10, NULL, 10);
        size_t close = ir_find(text, ")", 0);
        text = ir_part(text, close == SIZE_MAX ? text.size : close + 1, text.size);
    }
    place->name = ir_without_attributes(text, &place->align);
    return place->name.size > 0;
}

struct ir_slice
ir_type_at(struct ir_arena *arena, struct ir_slice text)
{
    if (text.size > 0 &&
        (text.at[0] == '{' || text.at[0] == '[' || text.at[0] == '<')) {
        return ir_part(text, 0, ir_close(arena, text, 0));
    }
    return ir_begins(text, "ptr addrspace(")
               ? ir_part(text, 0, ir_find(text, ")", 0) + 1)
               : ir_token(text, 0);
}

uint64_t
ir_access_bytes(const struct ir_types *types, struct ir_slice type)
{
    size_t times = ir_find(type, " x ", 0);

    if (type.size > 1 && type.at[0] == 'i' && type.at[1] >= '0' && type.at[1] <= '9') {
        return (strtoull(type.at + 1, NULL, 10) + 7) / 8;
    }
    if (type.size > 2 && type.at[0] == '<' && type.at[1] != '{' && times != SIZE_MAX) {
        struct ir_slice element = ir_part(type, times + 3, type.size - 1);
        uint64_t count = strtoull(type.at + 1, NULL, 10);
        return ir_is(element, "i1") ? (count + 7) / 8
                                    : count * ir_access_bytes(types, element);
    }
    return ir_layout_of(types, type).size;
}

struct ir_slice *
ir_arguments(struct ir_arena *arena, struct ir_slice call, uint32_t *count)
{
    size_t name = ir_find(call, "@", 0);
    size_t open = name == SIZE_MAX ? SIZE_MAX : ir_find(call, "(", name);

    *count = 0;
    if (open == SIZE_MAX) {
        return NULL;
    }
    size_t close = ir_close(arena, call, open);
    return ir_split(arena, ir_part(call, open + 1, close - 1), count);
}

struct ir_slice
ir_debug(struct ir_slice line)
{
    size_t at = ir_find(line, ", !dbg !", 0);

    if (at == SIZE_MAX) {
        return ir_slice_of("");
    }
    size_t end = at + 8;
    while (end < line.size && line.at[end] >= '0' && line.at[end] <= '9') {
        end++;
    }
    return ir_part(line, at, end);
}
