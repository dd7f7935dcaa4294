/* SPDX-License-Identifier: MIT */
/* Sizes and alignments, computed from the text of a type:
 *
 *     i1              1 / 1        { i32, double }      16 / 8
 *     i24             4 / 4        <{ i32, double }>    12 / 1, packed
 *     ptr             8 / 8        [3 x i16]             6 / 2
 *     %T              its body     <3 x float>          16 / 16, a vector
 *
 * Offsets in the IR were computed for the front end's target, and sizes here are the
 * host's: both lay out these types in the same way. */
#include "cpu/compile/ir_type.h"

#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 64u

static struct ir_layout layout(const struct ir_types *types, struct ir_slice type,
                               unsigned depth);

void
ir_types_read(struct ir_types *types, const struct ir_module *module)
{
    *types =
        (struct ir_types){.arena = module->arena, .names = {.arena = module->arena}};
    types->bodies =
        ir_alloc(module->arena, module->type_count + 1, sizeof *types->bodies);
    for (size_t i = 0; i < module->type_count; i++) {
        struct ir_slice line = module->types[i];
        size_t body = ir_find(line, " = type ", 0);
        if (body == SIZE_MAX) {
            ir_fail(module->arena, HA_ERROR_INVALID, "IR with a broken type line");
        }
        types->bodies[i] = ir_trim(ir_part(line, body + 8, line.size));
        ir_map_set(&types->names, ir_token(line, 0), (uint32_t)i);
    }
}

static uint64_t
power_of_two(uint64_t size)
{
    uint64_t power = 1;

    while (power < size) {
        power *= 2;
    }
    return power;
}

static struct ir_layout
record(const struct ir_types *types, struct ir_slice fields, bool packed,
       unsigned depth)
{
    struct ir_layout whole = {0, 1};
    uint32_t count;
    struct ir_slice *parts = ir_split(types->arena, fields, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct ir_layout field = layout(types, parts[i], depth + 1);
        uint64_t align = packed ? 1 : field.align;
        whole.size = (whole.size + align - 1) / align * align + field.size;
        whole.align = align > whole.align ? align : whole.align;
    }
    whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
    return whole;
}

/* "[N x T]" and "<N x T>"; `type` is what stands between the brackets. */
static struct ir_layout
sequence(const struct ir_types *types, struct ir_slice type, bool vector,
         unsigned depth)
{
    size_t by = ir_find(type, " x ", 0);
    if (by == SIZE_MAX) {
        ir_fail(types->arena, HA_ERROR_UNSUPPORTED, "IR type without a count: %.*s",
                IR_ARGS(type));
    }
    uint64_t count = strtoull(type.at, NULL, 10);
    struct ir_layout element =
        layout(types, ir_trim(ir_part(type, by + 3, type.size)), depth + 1);
    struct ir_layout whole = {0, element.align};
    if (__builtin_mul_overflow(count, element.size, &whole.size) ||
        whole.size > UINT64_MAX / 4) {
        ir_fail(types->arena, HA_ERROR_UNSUPPORTED, "IR type that is too large");
    }
    if (vector) { /* fills its alignment, so that a row of them has no gaps */
        whole.size = whole.align = power_of_two(whole.size);
    }
    return whole;
}

static struct ir_layout
scalar(const struct ir_types *types, struct ir_slice type)
{
    static const struct {
        const char *name;
        uint64_t size;
    } floats[] = {{"ptr", 8}, {"float", 4}, {"double", 8}, {"half", 2}, {"bfloat", 2}};

    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        if (ir_is(type, floats[i].name) || (i == 0 && ir_begins(type, "ptr "))) {
            return (struct ir_layout){floats[i].size, floats[i].size};
        }
    }
    if (type.size > 1 && type.at[0] == 'i') {
        uint64_t bits = strtoull(type.at + 1, NULL, 10);
        uint64_t bytes = power_of_two((bits + 7) / 8);
        if (bits > 0 && bytes <= 16) {
            return (struct ir_layout){bytes, bytes};
        }
    }
    ir_fail(types->arena, HA_ERROR_UNSUPPORTED, "IR type '%.*s' has no size here",
            IR_ARGS(type));
}

static struct ir_layout
layout(const struct ir_types *types, struct ir_slice type, unsigned depth)
{
    uint32_t number;

    type = ir_trim(type);
    if (type.size == 0 || depth > NESTING_MAX) {
        ir_fail(types->arena, HA_ERROR_INVALID, "IR type that is empty or too deep");
    }
    if (type.at[0] == '%') {
        if (!ir_map_get(&types->names, type, &number)) {
            ir_fail(types->arena, HA_ERROR_INVALID, "IR type '%.*s' is not defined",
                    IR_ARGS(type));
        }
        return layout(types, types->bodies[number], depth + 1);
    }
    if (strchr("[{<", type.at[0]) == NULL) {
        return scalar(types, type);
    }
    struct ir_slice inner = ir_part(type, 1, ir_close(types->arena, type, 0) - 1);
    if (type.at[0] == '{') {
        return record(types, inner, false, depth);
    }
    if (type.at[0] == '[') {
        return sequence(types, inner, false, depth);
    }
    if (inner.size > 1 && inner.at[0] == '{') {
        return record(types, ir_part(inner, 1, inner.size - 1), true, depth);
    }
    return sequence(types, inner, true, depth);
}

struct ir_layout
ir_layout_of(const struct ir_types *types, struct ir_slice type)
{
    return layout(types, type, 0);
}
