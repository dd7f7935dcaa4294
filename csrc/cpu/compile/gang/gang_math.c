/* SPDX-License-Identifier: MIT */
/* Calls of libmvec.
 *
 * The back end knows libmvec's functions for vectors of 16 and 32 bytes only, and calls
 * the function for one lane where a vector is longer.  So vectors are cut here into
 * pieces that libmvec has a function for, up to 64 bytes:
 *
 *     %a = call <16 x float> @_ZGVeN16v_expf(<16 x float> %x) */
#include "cpu/compile/gang/gang_emit.h"
#include "cpu/compile/rewrite_state.h"

static const struct {
    const char *callee;
    const char *name;
} known[] = {
    {"@llvm.exp.f", "exp"}, {"@llvm.log.f", "log"}, {"@llvm.pow.f", "pow"},
    {"@llvm.sin.f", "sin"}, {"@llvm.cos.f", "cos"},
};

static const char *
name_of(const struct gang_value *value)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (ir_begins(value->text, known[i].callee)) {
            return known[i].name;
        }
    }
    return NULL;
}

bool
gang_is_math(const struct gang_emit *emit, const struct gang_value *value)
{
    uint32_t bytes = emit->function->rewriter->math_bytes;

    return bytes > 0 && value->type.kind == GANG_FLOAT && value->type.bits >= 32 &&
           emit->width * value->type.bytes >= bytes && name_of(value) != NULL;
}

/* "_ZGVeN16v_expf": of AVX-512, 16 lanes, one vector as argument. */
static struct ir_slice
callee_of(struct gang_emit *emit, const struct gang_value *value, uint32_t lanes)
{
    struct gang_function *function = emit->function;
    const char *type = gang_type_name(value->type);
    bool two = value->operand_count == 2;
    struct ir_slice name = ir_format(
        function->arena, "@_ZGV%cN%u%s_%s%s", function->rewriter->vector_math, lanes,
        two ? "vv" : "v", name_of(value), value->type.bits == 32 ? "f" : "");
    struct ir_slice second =
        two ? ir_format(function->arena, ", <%u x %s>", lanes, type) : ir_slice_of("");

    gang_declare(emit, name,
                 ir_format(function->arena,
                           "<%u x %s> %.*s(<%u x %s>%.*s) nounwind memory(none) "
                           "willreturn",
                           lanes, type, IR_ARGS(name), lanes, type, IR_ARGS(second)));
    return name;
}

/* The lanes [first, first + count) of a vector of `whole`. */
static struct ir_slice
piece_of(struct gang_emit *emit, const char *type, struct ir_slice vector,
         uint32_t whole, uint32_t first, uint32_t count)
{
    struct ir_out places = {.arena = emit->function->arena};
    struct ir_slice name;

    if (count == whole) {
        return vector;
    }
    for (uint32_t i = 0; i < count; i++) {
        ir_print(&places, "%si32 %u", i > 0 ? ", " : "", first + i);
    }
    name = gang_name(emit);
    gang_line(emit,
              "%.*s = shufflevector <%u x %s> %.*s, <%u x %s> poison, <%u x i32> "
              "<%.*s>",
              IR_ARGS(name), whole, type, IR_ARGS(vector), whole, type, count,
              (int)places.size, places.text);
    return name;
}

/* Two vectors of `count` lanes as one. */
static struct ir_slice
joined(struct gang_emit *emit, const char *type, struct ir_slice a, struct ir_slice b,
       uint32_t count)
{
    struct ir_out places = {.arena = emit->function->arena};
    struct ir_slice name = gang_name(emit);

    for (uint32_t i = 0; i < 2 * count; i++) {
        ir_print(&places, "%si32 %u", i > 0 ? ", " : "", i);
    }
    gang_line(emit,
              "%.*s = shufflevector <%u x %s> %.*s, <%u x %s> %.*s, <%u x i32> "
              "<%.*s>",
              IR_ARGS(name), count, type, IR_ARGS(a), count, type, IR_ARGS(b),
              2 * count, (int)places.size, places.text);
    return name;
}

struct ir_slice
gang_write_math(struct gang_emit *emit, const struct gang_value *value)
{
    const char *type = gang_type_name(value->type);
    uint32_t lanes = emit->function->rewriter->math_bytes / value->type.bytes;
    uint32_t pieces = emit->width / lanes;
    struct ir_slice callee = callee_of(emit, value, lanes);
    struct ir_slice *parts = ir_alloc(emit->function->arena, pieces, sizeof *parts);
    struct ir_slice whole[2];

    for (uint32_t i = 0; i < value->operand_count; i++) {
        whole[i] = gang_vector(emit, value->operands[i]);
    }
    for (uint32_t p = 0; p < pieces; p++) {
        struct ir_out arguments = {.arena = emit->function->arena};
        for (uint32_t i = 0; i < value->operand_count; i++) {
            struct ir_slice piece =
                piece_of(emit, type, whole[i], emit->width, p * lanes, lanes);
            ir_print(&arguments, "%s<%u x %s> %.*s", i > 0 ? ", " : "", lanes, type,
                     IR_ARGS(piece));
        }
        parts[p] = gang_name(emit);
        gang_line(emit, "%.*s = call <%u x %s> %.*s(%.*s)", IR_ARGS(parts[p]), lanes,
                  type, IR_ARGS(callee), (int)arguments.size, arguments.text);
    }
    for (; pieces > 1; pieces /= 2, lanes *= 2) {
        for (uint32_t p = 0; p < pieces / 2; p++) {
            parts[p] = joined(emit, type, parts[2 * p], parts[2 * p + 1], lanes);
        }
    }
    return parts[0];
}
