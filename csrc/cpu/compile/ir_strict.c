/* SPDX-License-Identifier: MIT */
#include "cpu/compile/ir_strict.h"

#include <string.h>

#include "cpu/compile/ir_operand.h"

#define PREFIX "@llvm.experimental.constrained."
#define MODES "metadata !\"round.dynamic\", metadata !\"fpexcept.maytrap\""

static const char *const operations[] = {"fadd", "fsub", "fmul", "fdiv", "frem"};
static const char *const functions[] = {
    "sqrt", "fma",  "fmuladd", "sin", "cos",  "tan", "asin", "acos",  "atan", "atan2",
    "sinh", "cosh", "tanh",    "exp", "exp2", "log", "log2", "log10", "pow"};

static bool
is_one_of(struct ir_slice word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ir_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

static bool
is_operation(struct ir_slice word)
{
    return is_one_of(word, operations, sizeof operations / sizeof operations[0]);
}

/* What an intrinsic's name ends in, "f32" or "v4f64"; empty: there is none. */
static struct ir_slice
suffix_of(struct ir_arena *arena, struct ir_slice type)
{
    static const struct {
        const char *type, *suffix;
    } names[] = {
        {"float", "f32"}, {"double", "f64"}, {"half", "f16"}, {"bfloat", "bf16"}};
    struct ir_slice element = type, count = ir_slice_of("");

    if (type.size > 0 && type.at[0] == '<') {
        count = ir_token(type, 1);
        element = ir_part(type, 1 + count.size + 3, type.size - 1);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ir_is(element, names[i].type)) {
            return ir_format(arena, "%s%.*s%s", count.size > 0 ? "v" : "",
                             IR_ARGS(count), names[i].suffix);
        }
    }
    return (struct ir_slice){0};
}

/* Takes "nnan contract " from the beginning. */
static struct ir_slice
take_flags(struct ir_slice *text)
{
    static const char *const words[] = {"nnan",     "ninf", "nsz",     "arcp",
                                        "contract", "afn",  "reassoc", "fast"};
    size_t end = 0;

    for (;;) {
        struct ir_slice word = ir_token(ir_part(*text, end, text->size), 0);
        if (!is_one_of(word, words, sizeof words / sizeof words[0])) {
            break;
        }
        end += word.size + 1;
    }
    struct ir_slice flags = ir_part(*text, 0, end);
    *text = ir_part(*text, end, text->size);
    return flags;
}

/* ", !dbg !9" and the like at the end of a line. */
static struct ir_slice
metadata_of(struct ir_slice rest)
{
    size_t at = ir_find(rest, ", !", 0);

    return at == SIZE_MAX ? ir_slice_of("") : ir_part(rest, at, rest.size);
}

/* ---- to calls ---- */

static struct ir_slice
write_operation(struct ir_arena *arena, const struct ir_inst *inst)
{
    struct ir_slice rest = inst->rest, metadata = metadata_of(rest);
    uint32_t count;

    rest = ir_part(rest, 0, rest.size - metadata.size);
    struct ir_slice flags = take_flags(&rest), type = ir_type_at(arena, rest);
    struct ir_slice suffix = suffix_of(arena, type);
    struct ir_slice *parts =
        ir_split(arena, ir_part(rest, type.size, rest.size), &count);
    if (suffix.size == 0 || count != 2) {
        return (struct ir_slice){0};
    }
    struct ir_slice left = ir_trim(parts[0]), right = ir_trim(parts[1]);
    return ir_format(arena,
                     "%.*s = call %.*s%.*s " PREFIX
                     "%.*s.%.*s(%.*s %.*s, %.*s %.*s, " MODES ") nomerge%.*s",
                     IR_ARGS(inst->def), IR_ARGS(flags), IR_ARGS(type),
                     IR_ARGS(inst->op), IR_ARGS(suffix), IR_ARGS(type), IR_ARGS(left),
                     IR_ARGS(type), IR_ARGS(right), IR_ARGS(metadata));
}

/* "fptrunc double %v to float" */
static struct ir_slice
write_narrowing(struct ir_arena *arena, const struct ir_inst *inst)
{
    struct ir_slice rest = inst->rest, metadata = metadata_of(rest);

    rest = ir_part(rest, 0, rest.size - metadata.size);
    struct ir_slice flags = take_flags(&rest), from = ir_type_at(arena, rest);
    size_t to = ir_find(rest, " to ", 0);
    if (to == SIZE_MAX) {
        return (struct ir_slice){0};
    }
    struct ir_slice type = ir_part(rest, to + 4, rest.size);
    struct ir_slice suffixes[2] = {suffix_of(arena, type), suffix_of(arena, from)};
    if (suffixes[0].size == 0 || suffixes[1].size == 0) {
        return (struct ir_slice){0};
    }
    return ir_format(
        arena,
        "%.*s = call %.*s%.*s " PREFIX "fptrunc.%.*s.%.*s(%.*s, " MODES ") nomerge%.*s",
        IR_ARGS(inst->def), IR_ARGS(flags), IR_ARGS(type), IR_ARGS(suffixes[0]),
        IR_ARGS(suffixes[1]), IR_ARGS(ir_part(rest, 0, to)), IR_ARGS(metadata));
}

/* "@llvm.sqrt.f32": sqrt, behind the prefix "@llvm."; empty: another name. */
static struct ir_slice
function_of(struct ir_slice callee, const char *prefix)
{
    size_t begin = strlen(prefix), end = begin;

    if (!ir_begins(callee, prefix)) {
        return (struct ir_slice){0};
    }
    while (end < callee.size && callee.at[end] != '.') {
        end++;
    }
    return ir_part(callee, begin, end);
}

static bool
is_function(struct ir_slice word)
{
    return is_one_of(word, functions, sizeof functions / sizeof functions[0]);
}

/* The line up to the callee's name, without "tail " and the like, which such calls
 * need not have. */
static struct ir_slice
head_of(struct ir_arena *arena, const struct ir_inst *inst)
{
    return ir_format(arena, "%.*s = call %.*s", IR_ARGS(inst->def),
                     (int)(inst->callee.at - inst->rest.at), inst->rest.at);
}

static struct ir_slice
write_function(struct ir_arena *arena, const struct ir_inst *inst)
{
    struct ir_slice callee = inst->callee;
    size_t open = (size_t)(callee.at + callee.size - inst->rest.at);
    size_t close = ir_close(arena, inst->rest, open);

    return ir_format(arena, "%.*s" PREFIX "%.*s%.*s, " MODES ") nomerge%.*s",
                     IR_ARGS(head_of(arena, inst)),
                     IR_ARGS(ir_part(callee, strlen("@llvm."), callee.size)),
                     IR_ARGS(ir_part(inst->rest, open, close - 1)),
                     IR_ARGS(metadata_of(ir_part(inst->rest, close, inst->rest.size))));
}

struct ir_slice
ir_strict_write(struct ir_arena *arena, const struct ir_inst *inst)
{
    if (inst->def.size == 0) {
        return (struct ir_slice){0};
    }
    if (is_operation(inst->op)) {
        return write_operation(arena, inst);
    }
    if (ir_is(inst->op, "fptrunc")) {
        return write_narrowing(arena, inst);
    }
    if (ir_is(inst->op, "call") && is_function(function_of(inst->callee, "@llvm."))) {
        return write_function(arena, inst);
    }
    return (struct ir_slice){0};
}

/* ---- and back ---- */

bool
ir_strict_is_in(const char *text, size_t size)
{
    return memmem(text, size, PREFIX, strlen(PREFIX)) != NULL;
}

struct ir_slice
ir_strict_read(struct ir_arena *arena, const struct ir_inst *inst)
{
    struct ir_slice callee = inst->callee, word = function_of(callee, PREFIX);
    uint32_t count;

    if (word.size == 0 || inst->def.size == 0) {
        return (struct ir_slice){0};
    }
    size_t open = (size_t)(callee.at + callee.size - inst->rest.at);
    size_t close = ir_close(arena, inst->rest, open);
    struct ir_slice *given =
        ir_split(arena, ir_part(inst->rest, open + 1, close - 1), &count);
    struct ir_slice metadata = metadata_of(ir_part(inst->rest, close, inst->rest.size));
    struct ir_slice result = inst->rest, flags = take_flags(&result);
    uint64_t unused = 0;
    result = ir_type_at(arena, ir_without_attributes(result, &unused));
    if (count < 3) {
        return (struct ir_slice){0};
    }
    struct ir_slice values[3], types[3];
    for (uint32_t i = 0; i < count - 2 && i < 3; i++) {
        struct ir_slice given_one = ir_trim(given[i]);
        types[i] = ir_type_at(arena, given_one);
        values[i] = ir_without_attributes(
            ir_trim(ir_part(given_one, types[i].size, given_one.size)), &unused);
    }
    if (is_operation(word)) {
        return ir_format(arena, "%.*s = %.*s %.*s%.*s %.*s, %.*s%.*s",
                         IR_ARGS(inst->def), IR_ARGS(word), IR_ARGS(flags),
                         IR_ARGS(result), IR_ARGS(values[0]), IR_ARGS(values[1]),
                         IR_ARGS(metadata));
    }
    if (ir_is(word, "fptrunc")) {
        return ir_format(arena, "%.*s = fptrunc %.*s%.*s %.*s to %.*s%.*s",
                         IR_ARGS(inst->def), IR_ARGS(flags), IR_ARGS(types[0]),
                         IR_ARGS(values[0]), IR_ARGS(result), IR_ARGS(metadata));
    }
    struct ir_slice arguments =
        ir_format(arena, "%.*s %.*s", IR_ARGS(types[0]), IR_ARGS(values[0]));
    for (uint32_t i = 1; i < count - 2 && i < 3; i++) {
        arguments = ir_format(arena, "%.*s, %.*s %.*s", IR_ARGS(arguments),
                              IR_ARGS(types[i]), IR_ARGS(values[i]));
    }
    return ir_format(arena, "%.*s = call %.*s%.*s @llvm.%.*s(%.*s)%.*s",
                     IR_ARGS(inst->def), IR_ARGS(flags), IR_ARGS(result),
                     IR_ARGS(ir_part(callee, strlen(PREFIX), callee.size)),
                     IR_ARGS(arguments), IR_ARGS(metadata));
}
