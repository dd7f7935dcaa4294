/* SPDX-License-Identifier: MIT */
/* Contraction: a product and a sum as one operation, which rounds once.
 *
 * The front end says where that is allowed: by the flag `contract` (statements apart),
 * or by @llvm.fmuladd (one expression).  A back end that is left with the choice takes
 * it by what the code around looks like, and differs between the forms of one kernel.
 * So it is taken here, once, and all forms give the same bits:
 *
 *     %m = fmul contract float %a, %b
 *     %s = fadd contract float %m, %c     %s = call float @llvm.fma.f32(%a, %b, %c)
 *     %d = fsub contract float %m, %c     ...            fma(%a, %b, fneg %c)
 *     %d = fsub contract float %c, %m     ...            fma(fneg %a, %b, %c)
 *     call float @llvm.fmuladd.f32(...)   ...            fma(...)
 *     any other contract                  without the flag
 *
 * A product is taken into a sum that is all it is used for; of two products in one sum
 * the first.  float and double are fused, and vectors of them, where the processor has
 * the instruction.  Elsewhere, and for half and bfloat, which no processor level that
 * kernels are compiled for has it for, product and sum stay apart.
 *
 * Lines with `reassoc` or `fast` stay as they are: a back end that may compute them in
 * another order makes forms differ anyway, and knows sums of products by these lines.
 */
#include "cpu/compile/rewrite_contract.h"

#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_state.h"

#define FMULADD "@llvm.fmuladd."
#define NOT_FUSED UINT32_MAX

enum flag {
    NNAN = 1,
    NINF = 2,
    NSZ = 4,
    ARCP = 8,
    CONTRACT = 16,
    AFN = 32,
    REASSOC = 64,
    FAST = 128,
};

static const struct {
    const char *word;
    unsigned flag;
} flag_words[] = {
    {"nnan", NNAN},         {"ninf", NINF}, {"nsz", NSZ},         {"arcp", ARCP},
    {"contract", CONTRACT}, {"afn", AFN},   {"reassoc", REASSOC}, {"fast", FAST},
};
#define FLAG_WORDS (sizeof flag_words / sizeof flag_words[0])

/* What an instruction says behind its word: flags, then the rest. */
struct parts {
    unsigned flags;
    struct ir_slice rest; /* "float %a, %b", or what calls have there */
};

/* An fadd, fsub or fmul. */
struct operation {
    struct ir_slice type;
    struct ir_slice operands[2];
};

struct pass {
    struct ha_rewriter *rewriter;
    struct ir_function *function;
    struct ir_values values;
    uint32_t *uses;     /* by number of the instruction */
    uint32_t *products; /* of a sum: its product, or NOT_FUSED */
    uint8_t *gone;      /* a flag: the product that went into a sum */
    uint32_t names;     /* of values that the function did not have */
    /* The block at hand, as it becomes. */
    struct ir_inst *insts;
    uint32_t count;
    uint32_t place; /* of the instruction at hand */
};

static struct parts
parts_of(const struct ir_inst *inst)
{
    struct parts parts = {0, inst->rest};

    for (bool found = true; found;) {
        struct ir_slice word = ir_token(parts.rest, 0);
        found = false;
        for (size_t i = 0; i < FLAG_WORDS && !found; i++) {
            if (ir_is(word, flag_words[i].word)) {
                parts.flags |= flag_words[i].flag;
                found = true;
            }
        }
        if (found) {
            parts.rest = ir_trim(ir_part(parts.rest, word.size, parts.rest.size));
        }
    }
    return parts;
}

/* Whether the choice is ours. */
static bool
is_ours(unsigned flags)
{
    return (flags & (REASSOC | FAST)) == 0;
}

/* "nnan nsz ", for what goes before a type. */
static struct ir_slice
flag_text(struct ir_arena *arena, unsigned flags)
{
    struct ir_slice text = ir_slice_of("");

    for (size_t i = 0; i < FLAG_WORDS; i++) {
        if ((flags & flag_words[i].flag) != 0) {
            text = ir_format(arena, "%.*s%s ", IR_ARGS(text), flag_words[i].word);
        }
    }
    return text;
}

static bool
is_vector(struct ir_slice type)
{
    return type.size > 0 && type.at[0] == '<';
}

/* The type that a text begins with. */
static struct ir_slice
type_of(struct ir_arena *arena, struct ir_slice text)
{
    size_t size = is_vector(text) ? ir_close(arena, text, 0) : ir_token(text, 0).size;

    return ir_part(text, 0, size);
}

static struct operation
operation_of(struct ir_arena *arena, struct ir_slice rest)
{
    struct operation operation = {{0}, {{0}, {0}}};
    uint32_t count;
    struct ir_slice type = type_of(arena, rest);
    struct ir_slice *parts =
        ir_split(arena, ir_part(rest, type.size, rest.size), &count);

    if (count < 2) {
        ir_fail(arena, HA_ERROR_INVALID, "IR with an operation of one operand: %.*s",
                IR_ARGS(rest));
    }
    operation.type = type;
    operation.operands[0] = parts[0];
    operation.operands[1] = parts[1];
    return operation;
}

/* What the intrinsics of a type are called, "f32" or "v4f64", where it is fused; empty
 * where not. */
static struct ir_slice
suffix_of(const struct pass *pass, struct ir_slice type)
{
    struct ir_slice element = type, count = ir_slice_of("");

    if (!pass->rewriter->fuses) {
        return (struct ir_slice){0};
    }
    if (is_vector(type)) {
        count = ir_token(type, 1);
        element = ir_part(type, 1 + count.size + 3, type.size - 1);
    }
    const char *name = ir_is(element, "float")    ? "f32"
                       : ir_is(element, "double") ? "f64"
                                                  : NULL;
    if (name == NULL) {
        return (struct ir_slice){0};
    }
    return ir_format(pass->rewriter->arena, "%s%.*s%s", count.size > 0 ? "v" : "",
                     IR_ARGS(count), name);
}

/* ---- which product goes into which sum ---- */

static void
count_uses(struct pass *pass)
{
    for (uint32_t n = 0; n < pass->values.count; n++) {
        struct ir_slice rest = pass->values.insts[n]->rest;
        uint32_t used;
        for (size_t at = 0; at < rest.size; at++) {
            if (rest.at[at] == '%' &&
                ir_values_find(&pass->values, ir_token(rest, at), &used) != NULL) {
                pass->uses[used]++;
            }
        }
    }
}

static bool
is_product(const struct pass *pass, struct ir_slice name, uint32_t *number)
{
    const struct ir_inst *inst = ir_values_find(&pass->values, name, number);

    if (inst == NULL || !ir_is(inst->op, "fmul") || pass->uses[*number] != 1) {
        return false;
    }
    unsigned flags = parts_of(inst).flags;
    return (flags & CONTRACT) != 0 && is_ours(flags);
}

static void
choose_product(struct pass *pass, uint32_t number)
{
    const struct ir_inst *inst = pass->values.insts[number];

    if (!ir_is(inst->op, "fadd") && !ir_is(inst->op, "fsub")) {
        return;
    }
    struct parts parts = parts_of(inst);
    if ((parts.flags & CONTRACT) == 0 || !is_ours(parts.flags)) {
        return;
    }
    struct operation sum = operation_of(pass->rewriter->arena, parts.rest);
    if (suffix_of(pass, sum.type).size == 0) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        uint32_t product;
        if (is_product(pass, sum.operands[i], &product)) {
            pass->products[number] = product;
            pass->gone[product] = 1;
            return;
        }
    }
}

/* ---- the new lines ---- */

static void
add_line(struct pass *pass, struct ir_slice line)
{
    pass->insts[pass->count] = ir_inst_of(line);
    pass->insts[pass->count++].place = pass->place;
}

/* The same value with the other sign, as a new name. */
static struct ir_slice
negated(struct pass *pass, struct ir_slice type, struct ir_slice value)
{
    struct ir_arena *arena = pass->rewriter->arena;
    struct ir_slice name = ir_format(arena, "%%ha.negated.%u", pass->names++);

    add_line(pass, ir_format(arena, "%.*s = fneg %.*s %.*s", IR_ARGS(name),
                             IR_ARGS(type), IR_ARGS(value)));
    return name;
}

/* More than one declaration of a name is written once. */
static void
declare(struct ha_rewriter *rewriter, struct ir_slice type, struct ir_slice suffix)
{
    struct ir_module *module = &rewriter->module;
    struct ir_slice line = ir_format(
        rewriter->arena, "declare %.*s @llvm.fma.%.*s(%.*s, %.*s, %.*s)", IR_ARGS(type),
        IR_ARGS(suffix), IR_ARGS(type), IR_ARGS(type), IR_ARGS(type));

    for (size_t i = module->declare_count; i > 0; i--) {
        if (ir_same(module->declares[i - 1], line)) {
            return;
        }
    }
    struct ir_slice *lines =
        ir_alloc(rewriter->arena, module->declare_count + 1, sizeof *lines);
    for (size_t i = 0; i < module->declare_count; i++) {
        lines[i] = module->declares[i];
    }
    lines[module->declare_count++] = line;
    module->declares = lines;
}

/* `operands` are two factors and what is added. */
static void
write_fma(struct pass *pass, struct ir_slice def, unsigned flags, struct ir_slice type,
          const struct ir_slice operands[3])
{
    struct ir_arena *arena = pass->rewriter->arena;
    struct ir_slice words = flag_text(arena, flags & ~(unsigned)CONTRACT);
    struct ir_slice suffix = suffix_of(pass, type);

    declare(pass->rewriter, type, suffix);
    add_line(pass,
             ir_format(
                 arena,
                 "%.*s = call %.*s%.*s @llvm.fma.%.*s(%.*s %.*s, %.*s %.*s, %.*s %.*s)",
                 IR_ARGS(def), IR_ARGS(words), IR_ARGS(type), IR_ARGS(suffix),
                 IR_ARGS(type), IR_ARGS(operands[0]), IR_ARGS(type),
                 IR_ARGS(operands[1]), IR_ARGS(type), IR_ARGS(operands[2])));
}

static void
write_fused(struct pass *pass, const struct ir_inst *inst, const struct ir_inst *mul)
{
    struct ir_arena *arena = pass->rewriter->arena;
    struct parts sum_parts = parts_of(inst), product_parts = parts_of(mul);
    struct operation sum = operation_of(arena, sum_parts.rest);
    struct operation product = operation_of(arena, product_parts.rest);
    bool first = ir_same(sum.operands[0], mul->def);
    struct ir_slice operands[3] = {product.operands[0], product.operands[1],
                                   sum.operands[first ? 1 : 0]};

    if (ir_is(inst->op, "fsub")) {
        unsigned other = first ? 2 : 0;
        operands[other] = negated(pass, sum.type, operands[other]);
    }
    /* What only one of the two promises does not hold for both. */
    write_fma(pass, inst->def, sum_parts.flags & product_parts.flags, sum.type,
              operands);
}

/* The three operands of a call, and their type: "float noundef %a" -> float, %a. */
static struct ir_slice
call_operands(struct ir_arena *arena, const struct ir_inst *inst,
              struct ir_slice operands[3])
{
    struct ir_slice rest = inst->rest;
    size_t open = (size_t)(inst->callee.at + inst->callee.size - rest.at);
    size_t close = ir_close(arena, rest, open);
    uint32_t count;
    struct ir_slice *parts =
        ir_split(arena, ir_part(rest, open + 1, close - 1), &count);

    if (count != 3) {
        ir_fail(arena, HA_ERROR_INVALID, "IR with a call of %u operands: %.*s", count,
                IR_ARGS(rest));
    }
    struct ir_slice type = type_of(arena, parts[0]);
    for (uint32_t i = 0; i < 3; i++) {
        struct ir_slice value = ir_trim(ir_part(parts[i], type.size, parts[i].size));
        /* A constant vector has spaces too, and begins with a bracket. */
        for (size_t word; value.size > 0 && value.at[0] >= 'a' && value.at[0] <= 'z' &&
                          (word = ir_find(value, " ", 0)) != SIZE_MAX;) {
            value = ir_trim(ir_part(value, word, value.size));
        }
        operands[i] = value;
    }
    return type;
}

static void
write_muladd(struct pass *pass, const struct ir_inst *inst, unsigned flags)
{
    struct ir_arena *arena = pass->rewriter->arena;
    struct ir_slice operands[3], type = call_operands(arena, inst, operands);
    struct ir_slice words = flag_text(arena, flags & ~(unsigned)CONTRACT);

    if (suffix_of(pass, type).size > 0) {
        write_fma(pass, inst->def, flags, type, operands);
        return;
    }
    struct ir_slice product = ir_format(arena, "%%ha.product.%u", pass->names++);
    add_line(pass, ir_format(arena, "%.*s = fmul %.*s%.*s %.*s, %.*s", IR_ARGS(product),
                             IR_ARGS(words), IR_ARGS(type), IR_ARGS(operands[0]),
                             IR_ARGS(operands[1])));
    add_line(pass, ir_format(arena, "%.*s = fadd %.*s%.*s %.*s, %.*s",
                             IR_ARGS(inst->def), IR_ARGS(words), IR_ARGS(type),
                             IR_ARGS(product), IR_ARGS(operands[2])));
}

static void
write_inst(struct pass *pass, uint32_t number)
{
    struct ir_arena *arena = pass->rewriter->arena;
    const struct ir_inst *inst = pass->values.insts[number];
    struct parts parts = parts_of(inst);

    pass->place = inst->place;
    if (pass->gone[number]) {
        return;
    }
    if (pass->products[number] != NOT_FUSED) {
        write_fused(pass, inst, pass->values.insts[pass->products[number]]);
    } else if (inst->def.size > 0 && ir_begins(inst->callee, FMULADD) &&
               is_ours(parts.flags)) {
        write_muladd(pass, inst, parts.flags);
    } else if ((parts.flags & CONTRACT) != 0 && is_ours(parts.flags)) {
        struct ir_slice head =
            ir_part(inst->line, 0, (size_t)(inst->rest.at - inst->line.at));
        struct ir_slice flags = flag_text(arena, parts.flags & ~(unsigned)CONTRACT);
        add_line(pass, ir_format(arena, "%.*s%.*s%.*s", IR_ARGS(head), IR_ARGS(flags),
                                 IR_ARGS(parts.rest)));
    } else {
        pass->insts[pass->count++] = *inst;
    }
}

/* ---- one function ---- */

static bool
has_choice(const struct ir_function *function)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            const struct ir_inst *inst = &function->blocks[b].insts[i];
            struct parts parts = parts_of(inst);
            if (((parts.flags & CONTRACT) != 0 || ir_begins(inst->callee, FMULADD)) &&
                is_ours(parts.flags)) {
                return true;
            }
        }
    }
    return false;
}

static void
decide(struct ha_rewriter *rewriter, struct ir_function *function)
{
    struct ir_arena *arena = rewriter->arena;
    struct pass pass = {.rewriter = rewriter, .function = function};

    ir_values_read(arena, function, &pass.values);
    uint32_t count = pass.values.count;
    pass.uses = ir_alloc(arena, count + 1u, sizeof *pass.uses);
    pass.gone = ir_alloc(arena, count + 1u, sizeof *pass.gone);
    pass.products = ir_alloc(arena, count + 1u, sizeof *pass.products);
    count_uses(&pass);
    for (uint32_t n = 0; n < count; n++) {
        pass.products[n] = NOT_FUSED;
        choose_product(&pass, n);
    }
    uint32_t number = 0;
    for (uint32_t b = 0; b < function->block_count; b++) {
        struct ir_block *block = &function->blocks[b];
        pass.insts = ir_alloc(arena, 2u * block->count + 1u, sizeof *pass.insts);
        pass.count = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            write_inst(&pass, number++);
        }
        block->insts = pass.insts;
        block->count = pass.count;
    }
}

void
ha_rewrite_contract(struct ha_rewriter *rewriter)
{
    for (size_t f = 0; f < rewriter->module.function_count; f++) {
        struct ir_function *function = &rewriter->module.functions[f];
        if (has_choice(function)) {
            decide(rewriter, function);
        }
    }
}
