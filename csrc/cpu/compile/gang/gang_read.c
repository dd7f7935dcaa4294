/* SPDX-License-Identifier: MIT */
/* From the lines of a kernel to values.
 *
 * A cursor runs over the text of an instruction behind its operation.  Attributes of
 * calls and parameters are skipped: they are promises to the front end's target.
 * Constant expressions turn into instructions of the first block. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_ir.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

struct reader {
    struct gang_function *function;
    struct ir_map names;     /* "%x" -> value */
    struct ir_map constants; /* "i32 5" -> value */
    struct ir_map labels;    /* "%entry" -> block */
    uint32_t *first;         /* values of expressions, to stand in the first block */
    uint32_t first_count;
    uint32_t first_capacity;
};

struct cursor {
    struct reader *reader;
    const char *at;
    const char *end;
};

void
gang_refuse(struct gang_function *function, const char *format, ...)
{
    va_list arguments;
    char text[256];

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    function->reason = ir_format(function->arena, "%s", text);
    longjmp(function->refused, 1);
}

/* ---- types ---- */

const char *
gang_type_name(struct gang_type type)
{
    switch ((enum gang_kind)type.kind) {
    case GANG_INT:
        return type.bits == 1    ? "i1"
               : type.bits == 8  ? "i8"
               : type.bits == 16 ? "i16"
               : type.bits == 32 ? "i32"
                                 : "i64";
    case GANG_FLOAT:
        return type.bits == 16 ? "half" : type.bits == 32 ? "float" : "double";
    case GANG_BFLOAT:
        return "bfloat";
    case GANG_POINTER:
        return "ptr";
    case GANG_VOID:
        break;
    }
    return "void";
}

bool
gang_same_type(struct gang_type a, struct gang_type b)
{
    return a.kind == b.kind && a.bits == b.bits;
}

static bool
type_of_word(struct ir_slice word, struct gang_type *type)
{
    static const struct {
        const char *name;
        struct gang_type type;
    } types[] = {
        {"i1", {GANG_INT, 1, 1}},         {"i8", {GANG_INT, 1, 8}},
        {"i16", {GANG_INT, 2, 16}},       {"i32", {GANG_INT, 4, 32}},
        {"i64", {GANG_INT, 8, 64}},       {"half", {GANG_FLOAT, 2, 16}},
        {"float", {GANG_FLOAT, 4, 32}},   {"double", {GANG_FLOAT, 8, 64}},
        {"bfloat", {GANG_BFLOAT, 2, 16}}, {"ptr", {GANG_POINTER, 8, 64}},
        {"void", {GANG_VOID, 0, 0}},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (ir_is(word, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

/* ---- values ---- */

uint32_t
gang_value_add(struct gang_function *function, struct gang_value value)
{
    if (function->value_count == function->value_capacity) {
        uint32_t capacity = function->value_capacity * 2 + 64;
        struct gang_value *values = ir_alloc(function->arena, capacity, sizeof *values);
        if (function->value_count > 0) {
            memcpy(values, function->values, function->value_count * sizeof *values);
        }
        function->values = values;
        function->value_capacity = capacity;
    }
    function->values[function->value_count] = value;
    return function->value_count++;
}

bool
gang_is_computed(enum gang_op op)
{
    switch (op) {
    case GANG_BINARY:
    case GANG_NEGATE:
    case GANG_COMPARE:
    case GANG_SELECT:
    case GANG_CAST:
    case GANG_FREEZE:
    case GANG_ADDRESS:
    case GANG_PHI:
        return true;
    default:
        return false;
    }
}

bool
gang_integer(const struct gang_function *function, uint32_t value, int64_t *number)
{
    const struct gang_value *at = &function->values[value];

    if (at->op != GANG_CONSTANT || at->type.kind != GANG_INT) {
        return false;
    }
    if (ir_is(at->word, "true") || ir_is(at->word, "false")) {
        *number = ir_is(at->word, "true");
        return true;
    }
    char first = at->word.at[0];
    if (first != '-' && (first < '0' || first > '9')) {
        return false;
    }
    *number = strtoll(at->word.at, NULL, 10);
    return true;
}

static uint32_t
constant(struct reader *reader, struct gang_type type, struct ir_slice text)
{
    struct ir_arena *arena = reader->function->arena;
    struct ir_slice key =
        ir_format(arena, "%s %.*s", gang_type_name(type), IR_ARGS(text));
    uint32_t value;

    if (ir_map_get(&reader->constants, key, &value)) {
        return value;
    }
    value = gang_value_add(
        reader->function,
        (struct gang_value){.op = GANG_CONSTANT,
                            .type = type,
                            .word = ir_format(arena, "%.*s", IR_ARGS(text)),
                            .block = GANG_NONE});
    ir_map_set(&reader->constants, key, value);
    return value;
}

static uint32_t
add_first(struct reader *reader, struct gang_value value)
{
    value.block = 0;
    uint32_t number = gang_value_add(reader->function, value);
    if (reader->first_count == reader->first_capacity) {
        uint32_t capacity = reader->first_capacity * 2 + 16;
        uint32_t *first = ir_alloc(reader->function->arena, capacity, sizeof *first);
        if (reader->first_count > 0) {
            memcpy(first, reader->first, reader->first_count * sizeof *first);
        }
        reader->first = first;
        reader->first_capacity = capacity;
    }
    reader->first[reader->first_count++] = number;
    return number;
}

/* ---- the cursor ---- */

static struct cursor
cursor_on(struct reader *reader, struct ir_slice text)
{
    return (struct cursor){reader, text.at, text.at + text.size};
}

static void
skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\n", *cursor->at) != NULL) {
        cursor->at++;
    }
}

static struct ir_slice
rest_of(const struct cursor *cursor)
{
    return (struct ir_slice){cursor->at, (size_t)(cursor->end - cursor->at)};
}

static _Noreturn void
confused(const struct cursor *cursor, const char *wanted)
{
    struct ir_slice rest = rest_of(cursor);

    gang_refuse(cursor->reader->function, "unknown IR (%s wanted): %.*s", wanted,
                rest.size < 60 ? (int)rest.size : 60, rest.at);
}

static bool
take(struct cursor *cursor, const char *text)
{
    skip_blanks(cursor);
    size_t size = strlen(text);
    if (!ir_begins(rest_of(cursor), text)) {
        return false;
    }
    cursor->at += size;
    return true;
}

static void
need(struct cursor *cursor, const char *text)
{
    if (!take(cursor, text)) {
        confused(cursor, text);
    }
}

static bool
is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.' || c == '-' || c == '+';
}

/* A word without a sigil; empty where there is none. */
static struct ir_slice
peek_word(struct cursor *cursor)
{
    skip_blanks(cursor);
    const char *end = cursor->at;
    while (end < cursor->end && is_word_char(*end)) {
        end++;
    }
    return (struct ir_slice){cursor->at, (size_t)(end - cursor->at)};
}

static struct ir_slice
take_word(struct cursor *cursor)
{
    struct ir_slice word = peek_word(cursor);

    cursor->at += word.size;
    return word;
}

/* A bracket at the cursor with all that is in it. */
static struct ir_slice
take_bracket(struct cursor *cursor)
{
    struct ir_slice rest = rest_of(cursor);
    size_t size = ir_close(cursor->reader->function->arena, rest, 0);

    cursor->at += size;
    return ir_part(rest, 0, size);
}

static void
skip_address_space(struct cursor *cursor)
{
    if (take(cursor, "addrspace(")) {
        while (cursor->at < cursor->end && *cursor->at++ != ')') {
        }
    }
}

/* The text of a type, which may be a record or an array. */
static struct ir_slice
take_type_text(struct cursor *cursor)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end) {
        confused(cursor, "a type");
    }
    if (strchr("[{<", *cursor->at) != NULL) {
        return take_bracket(cursor);
    }
    if (*cursor->at == '%') {
        struct ir_slice name = ir_token(rest_of(cursor), 0);
        cursor->at += name.size;
        return name;
    }
    struct ir_slice word = take_word(cursor);
    if (ir_is(word, "ptr")) {
        skip_address_space(cursor);
    }
    return word;
}

static struct gang_type
take_type(struct cursor *cursor)
{
    struct gang_type type;
    struct ir_slice text = take_type_text(cursor);

    if (!type_of_word(text, &type)) {
        gang_refuse(cursor->reader->function, "values of the type %.*s",
                    text.size < 60 ? (int)text.size : 60, text.at);
    }
    return type;
}

/* ---- operands ---- */

static uint32_t take_value(struct cursor *cursor, struct gang_type type);

/* "noundef range(i32 0, 2) align 4 dereferenceable(16)": attributes of an argument. */
static void
skip_attributes(struct cursor *cursor)
{
    for (;;) {
        struct ir_slice word = peek_word(cursor);
        if (word.size == 0 || !(word.at[0] >= 'a' && word.at[0] <= 'z') ||
            ir_is(word, "true") || ir_is(word, "false") || ir_is(word, "null") ||
            ir_is(word, "undef") || ir_is(word, "poison") ||
            ir_is(word, "zeroinitializer") || ir_is(word, "getelementptr") ||
            ir_is(word, "addrspacecast") || ir_is(word, "bitcast") ||
            ir_is(word, "ptrtoint") || ir_is(word, "inttoptr") ||
            ir_is(word, "trunc") || ir_is(word, "add") || ir_is(word, "sub") ||
            ir_is(word, "xor")) {
            return;
        }
        cursor->at += word.size;
        if (ir_is(word, "align")) {
            (void)take_word(cursor);
        } else if (cursor->at < cursor->end && *cursor->at == '(') {
            (void)take_bracket(cursor);
        }
    }
}

static uint32_t
take_typed(struct cursor *cursor, struct gang_type *type)
{
    *type = take_type(cursor);
    skip_attributes(cursor);
    return take_value(cursor, *type);
}

/* Words such as "inbounds", "nuw", "contract" up to something else. */
static struct ir_slice
take_flags(struct cursor *cursor)
{
    static const char *const words[] = {
        "inbounds", "nuw",      "nsw",      "nusw", "exact",    "disjoint", "nneg",
        "contract", "nnan",     "ninf",     "nsz",  "arcp",     "afn",      "reassoc",
        "fast",     "samesign", "volatile", "tail", "musttail", "notail"};
    skip_blanks(cursor);
    const char *begin = cursor->at;
    const char *end = begin;

    for (;;) {
        struct ir_slice word = peek_word(cursor);
        bool known = false;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            known |= ir_is(word, words[i]);
        }
        if (ir_begins(word, "inrange")) {
            confused(cursor, "an address");
        }
        if (!known) {
            break;
        }
        cursor->at += word.size;
        end = cursor->at;
    }
    return (struct ir_slice){begin, (size_t)(end - begin)};
}

/* ---- addresses ---- */

/* The layout of the aggregate `text`, and its element `index` (-1: any of an array). */
static struct ir_slice
element_of(struct cursor *cursor, struct ir_slice text, int64_t index, int64_t *offset,
           int64_t *scale)
{
    const struct ir_types *types = &cursor->reader->function->rewriter->types;
    struct ir_arena *arena = cursor->reader->function->arena;
    uint32_t number;

    while (text.size > 0 && text.at[0] == '%') {
        if (!ir_map_get(&types->names, text, &number)) {
            confused(cursor, "a named type");
        }
        text = ir_trim(types->bodies[number]);
    }
    *offset = 0;
    if (text.at[0] == '[' || (text.at[0] == '<' && text.at[1] != '{')) {
        size_t by = ir_find(text, " x ", 0);
        struct ir_slice element = ir_trim(ir_part(text, by + 3, text.size - 1));
        *scale = (int64_t)ir_layout_of(types, element).size;
        return element;
    }
    bool packed = text.at[0] == '<';
    if ((!packed && text.at[0] != '{') || index < 0) {
        confused(cursor, "an aggregate");
    }
    uint32_t count;
    struct ir_slice inner =
        packed ? ir_part(text, 2, text.size - 2) : ir_part(text, 1, text.size - 1);
    struct ir_slice *parts = ir_split(arena, ir_trim(inner), &count);
    uint64_t at = 0;
    if ((uint64_t)index >= count) {
        confused(cursor, "a field");
    }
    for (int64_t i = 0; i <= index; i++) {
        struct ir_layout layout = ir_layout_of(types, ir_trim(parts[i]));
        uint64_t align = packed ? 1 : layout.align;
        at = (at + align - 1) / align * align;
        if (i == index) {
            break;
        }
        at += layout.size;
    }
    *offset = (int64_t)at;
    *scale = 0;
    return ir_trim(parts[index]);
}

/* "ptr %p, i64 0, i64 %i" behind the type of a getelementptr, up to `close` or the end
 * of the text. */
static struct gang_value
take_address(struct cursor *cursor, struct ir_slice element, bool first_scaled)
{
    struct reader *reader = cursor->reader;
    struct gang_function *function = reader->function;
    const struct ir_types *types = &function->rewriter->types;
    struct gang_type type;
    uint32_t operands[16];
    int64_t scales[16];
    uint32_t count = 1;
    int64_t offset = 0;
    bool first = first_scaled;

    operands[0] = take_typed(cursor, &type);
    if (type.kind != GANG_POINTER) {
        confused(cursor, "a pointer");
    }
    while (take(cursor, ",")) {
        skip_blanks(cursor);
        if (cursor->at < cursor->end && *cursor->at == '!') {
            cursor->at--;
            break;
        }
        int64_t number;
        int64_t at = 0;
        int64_t scale;
        uint32_t index = take_typed(cursor, &type);
        bool is_constant = gang_integer(function, index, &number);
        if (first) {
            scale = (int64_t)ir_layout_of(types, element).size;
            first = false;
        } else {
            element =
                element_of(cursor, element, is_constant ? number : -1, &at, &scale);
        }
        if (is_constant) {
            /* Addresses wrap. */
            offset = (int64_t)((uint64_t)offset + (uint64_t)at +
                               (uint64_t)scale * (uint64_t)number);
        } else {
            if (count == 16) {
                confused(cursor, "fewer indices");
            }
            operands[count] = index;
            scales[count++] = scale;
        }
    }
    struct gang_value value = {.op = GANG_ADDRESS,
                               .type = {GANG_POINTER, 8, 64},
                               .offset = offset,
                               .operand_count = count};
    value.operands = ir_alloc(function->arena, count, sizeof *value.operands);
    value.scales = ir_alloc(function->arena, count, sizeof *value.scales);
    memcpy(value.operands, operands, count * sizeof *operands);
    for (uint32_t i = 1; i < count; i++) {
        value.scales[i] = scales[i];
    }
    return value;
}

static struct gang_value
cast_of(struct gang_function *function, struct ir_slice word, uint32_t operand,
        struct gang_type from, struct gang_type to)
{
    struct gang_value value = {
        .op = GANG_CAST, .type = to, .from = from, .word = word, .operand_count = 1};
    value.operands = ir_alloc(function->arena, 1, sizeof *value.operands);
    value.operands[0] = operand;
    return value;
}

static bool
is_nothing_cast(struct ir_slice word)
{
    return ir_is(word, "addrspacecast");
}

static uint32_t
take_expression(struct cursor *cursor, struct ir_slice word, struct gang_type type)
{
    struct reader *reader = cursor->reader;
    struct gang_function *function = reader->function;
    struct gang_type from;
    uint32_t result;

    (void)take_flags(cursor);
    need(cursor, "(");
    if (ir_is(word, "getelementptr")) {
        struct ir_slice element = take_type_text(cursor);
        need(cursor, ",");
        result = add_first(reader, take_address(cursor, element, true));
        need(cursor, ")");
        return result;
    }
    uint32_t a = take_typed(cursor, &from);
    if (ir_is(word, "add") || ir_is(word, "sub") || ir_is(word, "xor")) {
        struct gang_value value = {.op = GANG_BINARY,
                                   .type = type,
                                   .from = type,
                                   .word = word,
                                   .operand_count = 2};
        need(cursor, ",");
        value.operands = ir_alloc(function->arena, 2, sizeof *value.operands);
        value.operands[0] = a;
        value.operands[1] = take_typed(cursor, &from);
        need(cursor, ")");
        return add_first(reader, value);
    }
    need(cursor, "to");
    struct gang_type to = take_type(cursor);
    need(cursor, ")");
    if (is_nothing_cast(word) || gang_same_type(from, to)) {
        return a;
    }
    return add_first(reader, cast_of(function, word, a, from, to));
}

static uint32_t
shared_value(struct cursor *cursor, struct ir_slice name, uint32_t variable)
{
    struct reader *reader = cursor->reader;
    uint32_t value;

    if (ir_map_get(&reader->names, name, &value)) {
        return value;
    }
    const struct ha_shared *shared = &reader->function->rewriter->shared[variable];
    value = gang_value_add(
        reader->function,
        (struct gang_value){.op = shared->dynamic ? GANG_DYNAMIC : GANG_SHARED,
                            .type = {GANG_POINTER, 8, 64},
                            .extra = variable,
                            .block = GANG_NONE});
    ir_map_set(&reader->names, name, value);
    return value;
}

static uint32_t
take_value(struct cursor *cursor, struct gang_type type)
{
    struct reader *reader = cursor->reader;
    struct ha_rewriter *rewriter = reader->function->rewriter;
    uint32_t value;

    skip_blanks(cursor);
    if (cursor->at == cursor->end) {
        confused(cursor, "a value");
    }
    if (*cursor->at == '%') {
        struct ir_slice name = ir_token(rest_of(cursor), 0);
        cursor->at += name.size;
        if (!ir_map_get(&reader->names, name, &value)) {
            confused(cursor, "a known value");
        }
        return value;
    }
    if (*cursor->at == '@') {
        struct ir_slice name = ir_token(rest_of(cursor), 0);
        cursor->at += name.size;
        if (ir_map_get(&rewriter->shared_names, name, &value)) {
            return shared_value(cursor, name, value);
        }
        return constant(reader, type, ha_with_kernel_addresses(rewriter, name));
    }
    if (strchr("[{<", *cursor->at) != NULL) {
        confused(cursor, "a scalar");
    }
    struct ir_slice word = take_word(cursor);
    if (word.size == 0) {
        confused(cursor, "a value");
    }
    skip_blanks(cursor);
    bool number = word.at[0] == '-' || (word.at[0] >= '0' && word.at[0] <= '9');
    bool name = ir_is(word, "true") || ir_is(word, "false") || ir_is(word, "null") ||
                ir_is(word, "undef") || ir_is(word, "poison") ||
                ir_is(word, "zeroinitializer");
    return number || name ? constant(reader, type, word)
                          : take_expression(cursor, word, type);
}

/* ---- instructions ---- */

static void
set_operands(struct gang_function *function, struct gang_value *value,
             const uint32_t *operands, uint32_t count)
{
    value->operands = ir_alloc(function->arena, count + 1u, sizeof *value->operands);
    value->operand_count = count;
    if (count > 0) {
        memcpy(value->operands, operands, count * sizeof *operands);
    }
}

static bool
is_one_of(struct ir_slice word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (ir_is(word, *words)) {
            return true;
        }
    }
    return false;
}

static void
read_binary(struct cursor *cursor, struct gang_value *value)
{
    value->flags = take_flags(cursor);
    value->type = take_type(cursor);
    value->from = value->type;
    uint32_t a = take_value(cursor, value->type);
    need(cursor, ",");
    uint32_t b = take_value(cursor, value->type);
    set_operands(cursor->reader->function, value, (uint32_t[]){a, b}, 2);
}

static void
read_compare(struct cursor *cursor, struct gang_value *value, bool floats)
{
    value->op = GANG_COMPARE;
    value->float_compare = floats;
    value->flags = take_flags(cursor);
    value->word = take_word(cursor);
    value->from = take_type(cursor);
    value->type = (struct gang_type){GANG_INT, 1, 1};
    uint32_t a = take_value(cursor, value->from);
    need(cursor, ",");
    uint32_t b = take_value(cursor, value->from);
    set_operands(cursor->reader->function, value, (uint32_t[]){a, b}, 2);
}

static void
read_select(struct cursor *cursor, struct gang_value *value)
{
    struct gang_type type;

    value->op = GANG_SELECT;
    value->flags = take_flags(cursor);
    uint32_t condition = take_typed(cursor, &type);
    need(cursor, ",");
    uint32_t a = take_typed(cursor, &value->type);
    need(cursor, ",");
    uint32_t b = take_typed(cursor, &value->type);
    set_operands(cursor->reader->function, value, (uint32_t[]){condition, a, b}, 3);
}

static void
read_cast(struct cursor *cursor, struct gang_value *value)
{
    value->op = GANG_CAST;
    value->flags = take_flags(cursor);
    uint32_t a = take_typed(cursor, &value->from);
    need(cursor, "to");
    value->type = take_type(cursor);
    set_operands(cursor->reader->function, value, &a, 1);
}

/* ", align 4" and then metadata, which is dropped. */
static void
take_align(struct cursor *cursor, struct gang_value *value)
{
    if (take(cursor, ", align ")) {
        value->align = (uint32_t)strtoul(cursor->at, NULL, 10);
    }
    if (value->align == 0) {
        value->align = 1;
    }
}

/* Between the pointer and the alignment of an atomic access: scope and ordering. */
static struct ir_slice
take_ordering(struct cursor *cursor)
{
    struct ir_slice rest = rest_of(cursor);
    size_t align = ir_find(rest, ", align", 0);
    size_t end = align == SIZE_MAX ? rest.size : align;

    cursor->at += end;
    return ir_trim(ir_part(rest, 0, end));
}

static void
read_load(struct cursor *cursor, struct gang_value *value)
{
    struct gang_type type;
    bool atomic = take(cursor, "atomic ");

    value->op = GANG_LOAD;
    value->is_volatile = take(cursor, "volatile ");
    value->type = take_type(cursor);
    need(cursor, ",");
    uint32_t pointer = take_typed(cursor, &type);
    if (atomic) {
        value->text = take_ordering(cursor);
    }
    take_align(cursor, value);
    set_operands(cursor->reader->function, value, &pointer, 1);
}

static void
read_store(struct cursor *cursor, struct gang_value *value)
{
    struct gang_type type;
    bool atomic = take(cursor, "atomic ");

    value->op = GANG_STORE;
    value->is_volatile = take(cursor, "volatile ");
    uint32_t stored = take_typed(cursor, &value->from);
    need(cursor, ",");
    uint32_t pointer = take_typed(cursor, &type);
    if (atomic) {
        value->text = take_ordering(cursor);
    }
    take_align(cursor, value);
    set_operands(cursor->reader->function, value, (uint32_t[]){pointer, stored}, 2);
}

static void
read_atomic(struct cursor *cursor, struct gang_value *value)
{
    struct gang_type type;

    value->op = GANG_ATOMIC;
    value->is_volatile = take(cursor, "volatile ");
    value->word = take_word(cursor);
    uint32_t pointer = take_typed(cursor, &type);
    need(cursor, ",");
    uint32_t operand = take_typed(cursor, &value->type);
    value->from = value->type;
    value->text = take_ordering(cursor);
    take_align(cursor, value);
    set_operands(cursor->reader->function, value, (uint32_t[]){pointer, operand}, 2);
}

static void
read_exchange(struct cursor *cursor, struct gang_value *value)
{
    struct gang_type type;

    value->op = GANG_EXCHANGE;
    (void)take(cursor, "weak ");
    value->is_volatile = take(cursor, "volatile ");
    uint32_t pointer = take_typed(cursor, &type);
    need(cursor, ",");
    uint32_t expected = take_typed(cursor, &value->type);
    need(cursor, ",");
    uint32_t wanted = take_typed(cursor, &value->type);
    value->from = value->type;
    value->text = take_ordering(cursor);
    take_align(cursor, value);
    set_operands(cursor->reader->function, value,
                 (uint32_t[]){pointer, expected, wanted}, 3);
}

static void
read_extract(struct cursor *cursor, struct gang_value *value)
{
    (void)take_type_text(cursor);
    struct ir_slice name = ir_token(rest_of(cursor), 0);
    uint32_t of;

    skip_blanks(cursor);
    name = ir_token(rest_of(cursor), 0);
    cursor->at += name.size;
    need(cursor, ",");
    struct ir_slice index = take_word(cursor);
    if (!ir_map_get(&cursor->reader->names, name, &of)) {
        confused(cursor, "a known value");
    }
    const struct gang_value *from = &cursor->reader->function->values[of];
    if (from->op != GANG_EXCHANGE) {
        gang_refuse(cursor->reader->function, "values of record types");
    }
    if (ir_is(index, "0")) {
        value->op = GANG_FREEZE; /* of what was there */
        value->type = from->from;
        value->word = ir_slice_of("copy");
    } else {
        value->op = GANG_SUCCESS;
        value->type = (struct gang_type){GANG_INT, 1, 1};
    }
    set_operands(cursor->reader->function, value, &of, 1);
}

static void
read_phi(struct cursor *cursor, struct gang_value *value)
{
    struct gang_function *function = cursor->reader->function;
    uint32_t operands[256];
    uint32_t blocks[256];
    uint32_t count = 0;

    value->op = GANG_PHI;
    (void)take_flags(cursor);
    value->type = take_type(cursor);
    do {
        uint32_t block;
        bool seen = false;
        need(cursor, "[");
        uint32_t operand = take_value(cursor, value->type);
        need(cursor, ",");
        skip_blanks(cursor);
        struct ir_slice label = ir_token(rest_of(cursor), 0);
        cursor->at += label.size;
        need(cursor, "]");
        if (!ir_map_get(&cursor->reader->labels, label, &block) || count == 256) {
            confused(cursor, "a known block");
        }
        for (uint32_t i = 0; i < count; i++) {
            seen |= blocks[i] == block;
        }
        if (!seen) {
            operands[count] = operand;
            blocks[count++] = block;
        }
    } while (take(cursor, ","));
    set_operands(function, value, operands, count);
    value->from_of = ir_alloc(function->arena, count, sizeof *value->from_of);
    memcpy(value->from_of, blocks, count * sizeof *blocks);
}

static void
read_alloca(struct cursor *cursor, struct gang_value *value)
{
    const struct ir_types *types = &cursor->reader->function->rewriter->types;
    struct ir_slice text = take_type_text(cursor);

    value->op = GANG_ALLOCA;
    value->type = (struct gang_type){GANG_POINTER, 8, 64};
    value->extra = ir_layout_of(types, text).size;
    value->word = text;
    if (take(cursor, ", i32 ") || take(cursor, ", i64 ")) {
        confused(cursor, "an array of known length");
    }
    take_align(cursor, value);
    set_operands(cursor->reader->function, value, NULL, 0);
}

/* ---- calls ---- */

struct call {
    struct ir_slice callee;
    struct gang_type types[16];
    uint32_t arguments[16];
    const char *ways[16]; /* how they are passed: "signext ", "zeroext " or "" */
    uint32_t count;
};

/* How an argument is passed, of the text of the call from it on. */
static const char *
way_of(struct ir_slice rest)
{
    size_t end = ir_find(rest, ",", 0);
    struct ir_slice own = ir_part(rest, 0, end == SIZE_MAX ? rest.size : end);

    return ir_find(own, " signext ", 0) != SIZE_MAX   ? "signext "
           : ir_find(own, " zeroext ", 0) != SIZE_MAX ? "zeroext "
                                                      : "";
}

static void
take_arguments(struct cursor *cursor, struct call *call)
{
    need(cursor, "(");
    skip_blanks(cursor);
    while (!take(cursor, ")")) {
        if (call->count == 16) {
            gang_refuse(cursor->reader->function, "a call of more than 16 arguments");
        }
        if (ir_begins(rest_of(cursor), "metadata") ||
            ir_begins(rest_of(cursor), "ptr byval") ||
            ir_begins(rest_of(cursor), "ptr noundef byval")) {
            gang_refuse(cursor->reader->function, "a call with records as arguments");
        }
        struct ir_slice rest = rest_of(cursor);
        size_t byval = ir_find(rest, "byval(", 0);
        size_t end = ir_find(rest, ",", 0);
        if (byval != SIZE_MAX && byval < end) {
            gang_refuse(cursor->reader->function, "a call with records as arguments");
        }
        call->ways[call->count] = way_of(rest);
        call->arguments[call->count] = take_typed(cursor, &call->types[call->count]);
        call->count++;
        (void)take(cursor, ",");
    }
}

/* Intrinsics that do the same to each element of a vector, and the functions of libm
 * that the back end knows as such. */
static bool
is_elementwise(struct ir_slice callee)
{
    static const char *const names[] = {"@llvm.sin.",          "@llvm.cos.",
                                        "@llvm.tan.",          "@llvm.asin.",
                                        "@llvm.acos.",         "@llvm.atan.",
                                        "@llvm.sinh.",         "@llvm.cosh.",
                                        "@llvm.tanh.",         "@llvm.exp.",
                                        "@llvm.exp2.",         "@llvm.exp10.",
                                        "@llvm.log.",          "@llvm.log2.",
                                        "@llvm.log10.",        "@llvm.pow.",
                                        "@llvm.sqrt.",         "@llvm.fabs.",
                                        "@llvm.floor.",        "@llvm.ceil.",
                                        "@llvm.trunc.",        "@llvm.rint.",
                                        "@llvm.nearbyint.",    "@llvm.round.",
                                        "@llvm.roundeven.",    "@llvm.fma.",
                                        "@llvm.fmuladd.",      "@llvm.minnum.",
                                        "@llvm.maxnum.",       "@llvm.minimum.",
                                        "@llvm.maximum.",      "@llvm.copysign.",
                                        "@llvm.canonicalize.", "@llvm.smin.",
                                        "@llvm.smax.",         "@llvm.umin.",
                                        "@llvm.umax.",         "@llvm.abs.",
                                        "@llvm.ctpop.",        "@llvm.ctlz.",
                                        "@llvm.cttz.",         "@llvm.bitreverse.",
                                        "@llvm.bswap.",        "@llvm.fshl.",
                                        "@llvm.fshr.",         "@llvm.uadd.sat.",
                                        "@llvm.usub.sat.",     "@llvm.sadd.sat.",
                                        "@llvm.ssub.sat.",     "@llvm.fptosi.sat.",
                                        "@llvm.fptoui.sat.",   NULL};

    for (size_t i = 0; names[i] != NULL; i++) {
        if (ir_begins(callee, names[i])) {
            return true;
        }
    }
    return false;
}

static bool
is_ignored(struct ir_slice callee)
{
    return ir_begins(callee, "@llvm.lifetime.") || ir_begins(callee, "@llvm.assume") ||
           ir_begins(callee, "@llvm.dbg.") ||
           ir_begins(callee, "@llvm.experimental.noalias");
}

static void
read_known(struct cursor *cursor, const struct ir_inst *inst, enum ha_known known,
           const struct call *call, struct gang_value *value)
{
    struct gang_function *function = cursor->reader->function;
    int64_t number;

    set_operands(function, value, call->arguments, call->count);
    if (known < HA_KNOWN_COORDINATES) {
        value->op = GANG_COORDINATE;
        value->extra = known;
        return;
    }
    switch (known) {
    case HA_KNOWN_BLOCK:
        if (!gang_integer(function, call->arguments[0], &number) ||
            number > HA_BLOCK_GRID) {
            gang_refuse(function, "a barrier of several grids");
        }
        function->grid |= number == HA_BLOCK_GRID;
        value->op = GANG_BARRIER;
        value->extra = (uint64_t)number;
        function->barrier = true;
        return;
    case HA_KNOWN_WARP:
        if (!gang_integer(function, call->arguments[0], &number)) {
            gang_refuse(function, "a warp call of an unknown kind");
        }
        value->op = GANG_WARP;
        value->extra = (uint64_t)number;
        function->warp = true;
        return;
    case HA_KNOWN_SHARED_DYNAMIC:
        value->op = GANG_DYNAMIC;
        return;
    case HA_KNOWN_CLOCK:
        value->op = GANG_CLOCK;
        return;
    case HA_KNOWN_QUERY:
        value->op = GANG_QUERY;
        return;
    case HA_KNOWN_CHECK:
        if (function->asks) {
            value->op = GANG_CHECK;
            return;
        }
        break;
    default:
        break;
    }
    gang_refuse(function, "a call of %.*s", IR_ARGS(inst->callee));
}

static void
read_memory(struct cursor *cursor, const struct call *call, struct gang_value *value,
            bool fill)
{
    struct gang_function *function = cursor->reader->function;
    int64_t bytes;

    if (!gang_integer(function, call->arguments[2], &bytes) || bytes < 0 ||
        bytes > 4096) {
        gang_refuse(function, "a copy of many bytes, or of a number known at run time");
    }
    value->op = fill ? GANG_FILL : GANG_COPY;
    value->extra = (uint64_t)bytes;
    set_operands(function, value, call->arguments, 2);
}

static void
read_call(struct cursor *cursor, const struct ir_inst *inst, struct gang_value *value)
{
    struct gang_function *function = cursor->reader->function;
    struct ha_rewriter *rewriter = function->rewriter;
    enum ha_known known = ha_known_of(inst);
    struct call call = {.callee = inst->callee};
    uint32_t number;

    if (inst->callee.size == 0 || inst->callee.at[0] != '@') {
        gang_refuse(function, "a call through a pointer, or assembly");
    }
    if (is_ignored(inst->callee)) {
        value->op = GANG_FENCE;
        value->word = ir_slice_of("nothing");
        return;
    }
    value->flags = take_flags(cursor);
    struct ir_slice rest = rest_of(cursor);
    size_t at = ir_find(rest, inst->callee.at[1] == '"' ? "@\"" : "@", 0);
    /* "noundef range(i32 0, 9) i32 @f": the type is the last word before the callee,
     * or before the types of a function with a variable number of arguments. */
    struct ir_slice words = ir_trim(ir_part(rest, 0, at));
    struct ir_slice convention = words;
    if (words.size > 0 && words.at[words.size - 1] == ')') {
        size_t open = words.size;
        while (open > 0 && words.at[open - 1] != '(') {
            open--;
        }
        words = ir_trim(ir_part(words, 0, open > 0 ? open - 1 : 0));
    }
    size_t from = words.size;
    while (from > 0 && words.at[from - 1] != ' ') {
        from--;
    }
    struct ir_slice type = ir_part(words, from, words.size);
    if (!type_of_word(type, &value->type)) {
        gang_refuse(function, "a call that returns %.*s", IR_ARGS(type));
    }
    cursor->at += at + inst->callee.size;
    take_arguments(cursor, &call);
    value->text = inst->callee;
    if (known != HA_KNOWN_NONE) {
        read_known(cursor, inst, known, &call, value);
    } else if (is_elementwise(inst->callee)) {
        value->op = GANG_PURE;
        set_operands(function, value, call.arguments, call.count);
    } else if (ir_begins(inst->callee, "@llvm.memcpy.") ||
               ir_begins(inst->callee, "@llvm.memmove.")) {
        read_memory(cursor, &call, value, false);
    } else if (ir_begins(inst->callee, "@llvm.memset.")) {
        read_memory(cursor, &call, value, true);
    } else if (ir_begins(inst->callee, "@llvm.")) {
        gang_refuse(function, "a call of %.*s", IR_ARGS(inst->callee));
    } else {
        bool own = ir_map_get(&rewriter->functions, inst->callee, &number);
        const struct ha_ir_function_info *info = own ? &rewriter->infos[number] : NULL;
        if (own && (info->lane || info->block || info->warp || info->pause ||
                    info->indirect)) {
            gang_refuse(function, "a call of %.*s, which is not inlined",
                        IR_ARGS(inst->callee));
        }
        for (uint32_t i = 0; own && i < rewriter->shared_count; i++) {
            if (info->shared[i]) {
                gang_refuse(function, "a call of %.*s, which is not inlined",
                            IR_ARGS(inst->callee));
            }
        }
        value->op = GANG_CALL;
        value->flags = ir_begins(convention, "fastcc")   ? ir_slice_of("fastcc")
                       : ir_begins(convention, "coldcc") ? ir_slice_of("coldcc")
                                                         : ir_slice_of("");
        value->ways = ir_alloc(function->arena, call.count + 1u, sizeof *value->ways);
        memcpy(value->ways, call.ways, call.count * sizeof *value->ways);
        set_operands(function, value, call.arguments, call.count);
    }
}

static void
read_inst(struct reader *reader, const struct ir_inst *inst, struct gang_value *value)
{
    static const char *const integers[] = {"add",  "sub",  "mul", "udiv", "sdiv",
                                           "urem", "srem", "shl", "lshr", "ashr",
                                           "and",  "or",   "xor", NULL};
    static const char *const floats[] = {"fadd", "fsub", "fmul", "fdiv", "frem", NULL};
    static const char *const casts[] = {
        "trunc",    "zext",    "sext",          "fptrunc", "fpext",
        "fptoui",   "fptosi",  "uitofp",        "sitofp",  "ptrtoint",
        "inttoptr", "bitcast", "addrspacecast", NULL};
    struct cursor cursor = cursor_on(reader, inst->rest);
    struct gang_function *function = reader->function;

    value->word = inst->op;
    if (is_one_of(inst->op, integers) || is_one_of(inst->op, floats)) {
        value->op = GANG_BINARY;
        value->float_op = is_one_of(inst->op, floats);
        read_binary(&cursor, value);
    } else if (is_one_of(inst->op, casts)) {
        read_cast(&cursor, value);
    } else if (ir_is(inst->op, "icmp")) {
        read_compare(&cursor, value, false);
    } else if (ir_is(inst->op, "fcmp")) {
        read_compare(&cursor, value, true);
    } else if (ir_is(inst->op, "select")) {
        read_select(&cursor, value);
    } else if (ir_is(inst->op, "fneg") || ir_is(inst->op, "freeze")) {
        value->op = ir_is(inst->op, "fneg") ? GANG_NEGATE : GANG_FREEZE;
        value->flags = take_flags(&cursor);
        uint32_t a = take_typed(&cursor, &value->type);
        set_operands(function, value, &a, 1);
    } else if (ir_is(inst->op, "load")) {
        read_load(&cursor, value);
    } else if (ir_is(inst->op, "store")) {
        read_store(&cursor, value);
    } else if (ir_is(inst->op, "getelementptr")) {
        (void)take_flags(&cursor);
        struct ir_slice element = take_type_text(&cursor);
        need(&cursor, ",");
        struct gang_value address = take_address(&cursor, element, true);
        address.block = value->block;
        *value = address;
    } else if (ir_is(inst->op, "phi")) {
        read_phi(&cursor, value);
    } else if (ir_is(inst->op, "call")) {
        read_call(&cursor, inst, value);
    } else if (ir_is(inst->op, "atomicrmw")) {
        read_atomic(&cursor, value);
    } else if (ir_is(inst->op, "cmpxchg")) {
        read_exchange(&cursor, value);
    } else if (ir_is(inst->op, "extractvalue")) {
        read_extract(&cursor, value);
    } else if (ir_is(inst->op, "alloca")) {
        read_alloca(&cursor, value);
    } else if (ir_is(inst->op, "fence")) {
        value->op = GANG_FENCE;
        value->text = ir_trim(inst->rest);
    } else {
        gang_refuse(function, "the instruction %.*s", IR_ARGS(inst->op));
    }
}

/* ---- terminators ---- */

static void
add_next(struct gang_block *block, uint32_t target, uint32_t *place)
{
    for (uint32_t i = 0; i < block->next_count; i++) {
        if (block->next[i] == target) {
            *place = i;
            return;
        }
    }
    *place = block->next_count;
    block->next[block->next_count++] = target;
}

static uint32_t
take_label(struct cursor *cursor)
{
    uint32_t block;

    need(cursor, "label");
    skip_blanks(cursor);
    struct ir_slice name = ir_token(rest_of(cursor), 0);
    cursor->at += name.size;
    if (!ir_map_get(&cursor->reader->labels, name, &block)) {
        confused(cursor, "a known block");
    }
    return block;
}

static void
read_switch(struct cursor *cursor, struct gang_value *value, struct gang_block *block,
            uint32_t edges)
{
    struct gang_function *function = cursor->reader->function;
    uint32_t place;
    uint32_t a = take_typed(cursor, &value->from);

    value->op = GANG_SWITCH;
    need(cursor, ",");
    add_next(block, take_label(cursor), &place);
    need(cursor, "[");
    block->cases = ir_alloc(function->arena, edges, sizeof *block->cases);
    block->case_to = ir_alloc(function->arena, edges, sizeof *block->case_to);
    while (!take(cursor, "]")) {
        (void)take_type(cursor);
        block->cases[block->case_count] = take_word(cursor);
        need(cursor, ",");
        add_next(block, take_label(cursor), &place);
        block->case_to[block->case_count++] = place;
    }
    set_operands(function, value, &a, 1);
}

static void
read_end(struct reader *reader, const struct ir_block *from, struct gang_block *block,
         struct gang_value *value)
{
    const struct ir_inst *inst = &from->insts[from->count - 1];
    struct gang_function *function = reader->function;
    struct cursor cursor = cursor_on(reader, inst->rest);
    struct gang_type type;
    uint32_t place;

    block->next = ir_alloc(function->arena, from->next_count + 1u, sizeof *block->next);
    if (ir_is(inst->op, "ret")) {
        value->op = GANG_RETURN;
    } else if (ir_is(inst->op, "unreachable")) {
        value->op = GANG_UNREACHABLE;
    } else if (ir_is(inst->op, "switch")) {
        read_switch(&cursor, value, block, from->next_count + 1);
    } else if (ir_is(inst->op, "br") && from->next_count == 1) {
        value->op = GANG_BRANCH;
        add_next(block, from->next[0], &place);
    } else if (ir_is(inst->op, "br")) {
        value->op = GANG_BRANCH;
        uint32_t condition = take_typed(&cursor, &type);
        add_next(block, from->next[0], &place);
        add_next(block, from->next[1], &place);
        if (block->next_count == 2) {
            set_operands(function, value, &condition, 1);
        }
    } else {
        gang_refuse(function, "the instruction %.*s", IR_ARGS(inst->op));
    }
}

/* ---- the whole ---- */

static void
number_names(struct reader *reader)
{
    struct gang_function *function = reader->function;
    const struct ir_function *source = function->source;

    function->params =
        ir_alloc(function->arena, source->param_count + 1u, sizeof *function->params);
    for (uint32_t i = 0; i < source->param_count; i++) {
        struct gang_type type;
        if (!type_of_word(
                ha_host_text(function->rewriter, source->params[i].type, false),
                &type)) {
            gang_refuse(function, "a parameter of the type %.*s",
                        IR_ARGS(source->params[i].type));
        }
        function->params[i] = gang_value_add(
            function,
            (struct gang_value){
                .op = GANG_PARAMETER, .type = type, .extra = i, .block = GANG_NONE});
        ir_map_set(&reader->names, source->params[i].name, function->params[i]);
    }
    for (uint32_t b = 0; b < source->block_count; b++) {
        ir_map_set(&reader->labels, source->blocks[b].label, b);
        for (uint32_t i = 0; i < source->blocks[b].count; i++) {
            uint32_t value = gang_value_add(function, (struct gang_value){.block = b});
            if (source->blocks[b].insts[i].def.size > 0) {
                ir_map_set(&reader->names, source->blocks[b].insts[i].def, value);
            }
        }
    }
}

static bool
is_nothing(const struct gang_value *value)
{
    return value->op == GANG_FENCE && ir_is(value->word, "nothing");
}

static void
read_blocks(struct reader *reader)
{
    struct gang_function *function = reader->function;
    const struct ir_function *source = function->source;
    uint32_t number = source->param_count;

    function->blocks =
        ir_alloc(function->arena, source->block_count, sizeof *function->blocks);
    function->block_count = source->block_count;
    for (uint32_t b = 0; b < source->block_count; b++) {
        const struct ir_block *from = &source->blocks[b];
        struct gang_block *block = &function->blocks[b];
        block->label = from->label;
        block->insts = ir_alloc(function->arena, from->count, sizeof *block->insts);
        for (uint32_t i = 0; i < from->count; i++, number++) {
            struct gang_value value = {.block = b};
            function->at = from->insts[i].place;
            if (i + 1 == from->count) {
                read_end(reader, from, block, &value);
            } else {
                read_inst(reader, &from->insts[i], &value);
            }
            value.source = function->at;
            function->values[number] = value;
            if (!is_nothing(&value)) {
                block->insts[block->count++] = number;
            }
        }
    }
}

/* Constant expressions before what the first block has. */
static void
put_first(struct reader *reader)
{
    struct gang_function *function = reader->function;
    struct gang_block *block = &function->blocks[0];
    uint32_t *insts =
        ir_alloc(function->arena, block->count + reader->first_count, sizeof *insts);

    if (reader->first_count == 0) {
        return;
    }
    memcpy(insts, reader->first, reader->first_count * sizeof *insts);
    memcpy(insts + reader->first_count, block->insts, block->count * sizeof *insts);
    block->insts = insts;
    block->count += reader->first_count;
}

/* ---- barriers end blocks ---- */

static uint32_t
barriers_of(const struct gang_function *function)
{
    uint32_t count = 0;

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            count += function->values[function->blocks[b].insts[i]].op == GANG_BARRIER;
        }
    }
    return count;
}

/* What stands behind instruction `at` becomes block `to`. */
static void
split_block(struct gang_function *function, uint32_t from, uint32_t at, uint32_t to)
{
    struct gang_block *block = &function->blocks[from];
    struct gang_block *rest = &function->blocks[to];
    uint32_t count = block->count - at - 1;

    *rest = *block;
    rest->label = ir_format(function->arena, "%.*s.after", IR_ARGS(block->label));
    rest->insts = ir_alloc(function->arena, count, sizeof *rest->insts);
    memcpy(rest->insts, block->insts + at + 1, count * sizeof *rest->insts);
    rest->count = count;
    for (uint32_t i = 0; i < count; i++) {
        function->values[rest->insts[i]].block = to;
    }
    /* What the barrier says is known behind it only. */
    function->values[block->insts[at]].block = to;
    for (uint32_t v = 0; v < function->value_count; v++) {
        struct gang_value *value = &function->values[v];
        for (uint32_t k = 0; value->op == GANG_PHI && k < value->operand_count; k++) {
            if (value->from_of[k] == from) {
                value->from_of[k] = to;
            }
        }
    }
    uint32_t branch = gang_value_add(
        function,
        (struct gang_value){.op = GANG_BRANCH,
                            .block = from,
                            .source = function->values[block->insts[at]].source});
    block->insts[at + 1] = branch;
    block->count = at + 2;
    block->next = ir_alloc(function->arena, 1, sizeof *block->next);
    block->next[0] = to;
    block->next_count = 1;
    block->case_count = 0;
}

static void
split_at_barriers(struct gang_function *function)
{
    uint32_t more = barriers_of(function);
    struct gang_block *blocks =
        ir_alloc(function->arena, function->block_count + more, sizeof *blocks);
    uint32_t to = function->block_count;

    memcpy(blocks, function->blocks, function->block_count * sizeof *blocks);
    function->blocks = blocks;
    function->block_count += more;
    for (uint32_t b = 0; b < to; b++) {
        for (uint32_t i = 0; i < blocks[b].count; i++) {
            if (function->values[blocks[b].insts[i]].op == GANG_BARRIER) {
                split_block(function, b, i, to++);
            }
        }
    }
}

static void
link_blocks(struct gang_function *function)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].next_count; i++) {
            function->blocks[function->blocks[b].next[i]].prev_count++;
        }
    }
    for (uint32_t b = 0; b < function->block_count; b++) {
        struct gang_block *block = &function->blocks[b];
        block->prev =
            ir_alloc(function->arena, block->prev_count + 1u, sizeof *block->prev);
        block->prev_count = 0;
    }
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].next_count; i++) {
            struct gang_block *to = &function->blocks[function->blocks[b].next[i]];
            to->prev[to->prev_count++] = b;
        }
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            function->values[function->blocks[b].insts[i]].place = i;
        }
    }
}

/* A phi reads its operands at the ends of the blocks that they come from. */
static void
find_uses(struct gang_function *function)
{
    function->used = ir_alloc(function->arena, function->value_count + 1u, 1);
    function->used_elsewhere = ir_alloc(function->arena, function->value_count + 1u, 1);
    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        for (uint32_t i = 0; i < value->operand_count; i++) {
            uint32_t at = value->op == GANG_PHI       ? value->from_of[i]
                          : value->op == GANG_BARRIER ? GANG_NONE
                                                      : value->block;
            uint32_t of = value->operands[i];
            function->used[of] = 1;
            if (at != function->values[of].block) {
                function->used_elsewhere[of] = 1;
            }
        }
    }
}

void
gang_read(struct gang_function *function)
{
    struct ir_arena *arena = function->arena;
    struct reader reader = {.function = function,
                            .names = {.arena = arena},
                            .constants = {.arena = arena},
                            .labels = {.arena = arena}};

    number_names(&reader);
    read_blocks(&reader);
    function->at = 0;
    put_first(&reader);
    split_at_barriers(function);
    link_blocks(function);
    find_uses(function);
}
