/* SPDX-License-Identifier: MIT */
/* Values as nodes.  What is no integer and no address, or is read from memory, is any
 * value of its bits. */
#include <string.h>

#include "cpu/compile/proof/proof_state.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"

#define DEPTH_MOST 400u

_Static_assert((int)HA_KNOWN_BLOCK_X == (int)HA_PROOF_BLOCK, "coordinates in order");
_Static_assert((int)HA_KNOWN_GRID_DIM_Z == HA_PROOF_GRID_DIM + 2, "and all of them");

static struct ha_proof_node
unknown(uint16_t bits)
{
    return (struct ha_proof_node){.op = HA_PROOF_UNKNOWN, .bits = bits > 0 ? bits : 64};
}

static uint32_t
number_node(struct proof_build *build, int64_t number)
{
    return proof_add_node(build, (struct ha_proof_node){.op = HA_PROOF_NUMBER,
                                                        .bits = 64,
                                                        .loop = HA_PROOF_NONE,
                                                        .number = number});
}

static struct ha_proof_node
constant_node(struct proof_build *build, uint32_t number)
{
    const struct gang_value *value = &build->function->values[number];
    struct ha_proof_node node = unknown(value->type.bits);
    int64_t integer;

    if (gang_integer(build->function, number, &integer)) {
        node.op = HA_PROOF_NUMBER;
        node.number = integer;
    } else if (ir_is(value->word, "null")) {
        node.op = HA_PROOF_NUMBER;
    } else if (value->word.size > 0 && value->word.at[0] == '@') {
        uint32_t root = proof_root(build, number);
        if (root != HA_PROOF_NONE) {
            node.op = HA_PROOF_BEGIN;
            node.a = root;
        }
    }
    return node;
}

static struct ha_proof_node
parameter_node(struct proof_build *build, uint32_t number)
{
    const struct gang_value *value = &build->function->values[number];
    const struct ir_param *param = &build->function->source->params[value->extra];
    struct ha_proof_node node = unknown(value->type.bits);

    if (param->byval.size > 0) {
        node.op = HA_PROOF_BEGIN;
        node.a = proof_root(build, number);
    } else if (value->type.kind == GANG_INT || value->type.kind == GANG_POINTER) {
        node.op = HA_PROOF_ARGUMENT;
        node.a = (uint32_t)value->extra;
    }
    return node;
}

/* A member of a record that was passed by value. */
static struct ha_proof_node
load_node(struct proof_build *build, const struct gang_value *load)
{
    const struct gang_function *function = build->function;
    const struct gang_value *at = &function->values[load->operands[0]];
    struct ha_proof_node node = unknown(load->type.bits);
    int64_t offset = 0;

    while (at->op == GANG_ADDRESS && at->operand_count == 1) {
        offset += at->offset;
        at = &function->values[at->operands[0]];
    }
    if (at->op == GANG_PARAMETER && offset >= 0 && offset <= UINT16_MAX &&
        function->source->params[at->extra].byval.size > 0 &&
        !build->changed[at->extra] && !load->is_volatile &&
        (load->type.kind == GANG_INT || load->type.kind == GANG_POINTER)) {
        node.op = HA_PROOF_ARGUMENT;
        node.a = (uint32_t)at->extra;
        node.b = (uint32_t)offset;
    }
    return node;
}

static struct ha_proof_node
binary_node(struct proof_build *build, const struct gang_value *value)
{
    static const struct {
        const char *word;
        enum ha_proof_op op;
    } words[] = {
        {"add", HA_PROOF_ADD},   {"sub", HA_PROOF_SUB},   {"mul", HA_PROOF_MUL},
        {"shl", HA_PROOF_SHL},   {"lshr", HA_PROOF_LSHR}, {"ashr", HA_PROOF_ASHR},
        {"and", HA_PROOF_AND},   {"or", HA_PROOF_OR},     {"xor", HA_PROOF_XOR},
        {"udiv", HA_PROOF_UDIV}, {"sdiv", HA_PROOF_SDIV}, {"urem", HA_PROOF_UREM},
        {"srem", HA_PROOF_SREM}};
    struct ha_proof_node node = unknown(value->type.bits);

    for (size_t i = 0; i < sizeof words / sizeof words[0] && !value->float_op; i++) {
        if (ir_is(value->word, words[i].word)) {
            node.op = (uint16_t)words[i].op;
            node.a = proof_node(build, value->operands[0]);
            node.b = proof_node(build, value->operands[1]);
            node.disjoint = ir_find(value->flags, "disjoint", 0) != SIZE_MAX;
        }
    }
    return node;
}

static struct ha_proof_node
compare_node(struct proof_build *build, const struct gang_value *value)
{
    static const char *const words[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                        "sge", "ult", "ule", "ugt", "uge"};
    struct ha_proof_node node = unknown(1);

    for (size_t i = 0; i < sizeof words / sizeof words[0] && !value->float_compare;
         i++) {
        if (ir_is(value->word, words[i])) {
            node.op = HA_PROOF_COMPARE;
            node.number = (int64_t)i;
            node.a = proof_node(build, value->operands[0]);
            node.b = proof_node(build, value->operands[1]);
        }
    }
    return node;
}

static struct ha_proof_node
cast_node(struct proof_build *build, const struct gang_value *value)
{
    struct ha_proof_node node = unknown(value->type.bits);
    bool widens = value->type.bits > value->from.bits;

    if (ir_is(value->word, "trunc")) {
        node.op = HA_PROOF_TRUNC;
    } else if (ir_is(value->word, "zext")) {
        node.op = HA_PROOF_ZEXT;
    } else if (ir_is(value->word, "sext")) {
        node.op = HA_PROOF_SEXT;
    } else if (ir_is(value->word, "ptrtoint") || ir_is(value->word, "inttoptr")) {
        node.op = widens ? HA_PROOF_ZEXT : HA_PROOF_TRUNC;
    }
    if (node.op != HA_PROOF_UNKNOWN) {
        node.a = proof_node(build, value->operands[0]);
    }
    return node;
}

static struct ha_proof_node
pure_node(struct proof_build *build, const struct gang_value *value)
{
    static const struct {
        const char *name;
        enum ha_proof_op op;
    } names[] = {{"@llvm.smin.", HA_PROOF_SMIN},
                 {"@llvm.smax.", HA_PROOF_SMAX},
                 {"@llvm.umin.", HA_PROOF_UMIN},
                 {"@llvm.umax.", HA_PROOF_UMAX}};
    struct ha_proof_node node = unknown(value->type.bits);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ir_begins(value->text, names[i].name)) {
            node.op = (uint16_t)names[i].op;
            node.a = proof_node(build, value->operands[0]);
            node.b = proof_node(build, value->operands[1]);
        }
    }
    return node;
}

/* Base, constant and indices with scales: a chain of sums. */
static struct ha_proof_node
address_node(struct proof_build *build, const struct gang_value *value)
{
    struct ha_proof_node sum = {.op = HA_PROOF_ADD,
                                .bits = 64,
                                .loop = build->flow.loops.inner[value->block],
                                .a = proof_node(build, value->operands[0])};

    for (uint32_t i = 1; i < value->operand_count; i++) {
        uint32_t index = proof_node(build, value->operands[i]);
        struct ha_proof_node wide = {
            .op = HA_PROOF_SEXT, .bits = 64, .loop = sum.loop, .a = index};
        if (build->table->nodes[index].bits < 64) {
            index = proof_add_node(build, wide);
        }
        struct ha_proof_node scaled = {.op = HA_PROOF_MUL,
                                       .bits = 64,
                                       .loop = sum.loop,
                                       .a = index,
                                       .b = number_node(build, value->scales[i])};
        sum.b = proof_add_node(build, scaled);
        sum.a = proof_add_node(build, sum);
    }
    sum.b = number_node(build, value->offset);
    return sum;
}

static struct ha_proof_node
phi_node(struct proof_build *build, const struct gang_value *value)
{
    struct ha_proof_node node = unknown(value->type.bits);
    struct ha_proof_edge edges[256];
    uint32_t loop = build->flow.loops.inner[value->block];
    bool header =
        loop != IR_NONE && build->flow.loops.loops[loop].header == value->block;

    if (value->type.kind != GANG_INT && value->type.kind != GANG_POINTER) {
        return node;
    }
    if (header) {
        if (value->operand_count != 2 ||
            build->table->loops[loop].begin == HA_PROOF_NONE) {
            return node;
        }
        bool second = gang_in_loop(&build->flow, loop, value->from_of[0]);
        node.op = HA_PROOF_ROUND;
        node.a = proof_node(build, value->operands[second ? 1 : 0]);
        node.b = proof_node(build, value->operands[second ? 0 : 1]);
        node.c = loop;
        return node;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        edges[i].value = proof_node(build, value->operands[i]);
        edges[i].context = proof_edge_context(build, value->from_of[i], value->block);
    }
    node.op = HA_PROOF_JOIN;
    node.a = proof_add_edges(build, edges, value->operand_count);
    node.b = value->operand_count;
    return node;
}

static struct ha_proof_node
read_value(struct proof_build *build, uint32_t number)
{
    const struct gang_value *value = &build->function->values[number];
    struct ha_proof_node node = unknown(value->type.bits);

    switch (value->op) {
    case GANG_CONSTANT:
        return constant_node(build, number);
    case GANG_PARAMETER:
        return parameter_node(build, number);
    case GANG_SHARED:
    case GANG_DYNAMIC:
    case GANG_ALLOCA:
        node.op = HA_PROOF_BEGIN;
        node.a = proof_root(build, number);
        return node;
    case GANG_COORDINATE:
        node.op = HA_PROOF_COORDINATE;
        node.number = (int64_t)value->extra;
        return node;
    case GANG_BINARY:
        return binary_node(build, value);
    case GANG_COMPARE:
        return compare_node(build, value);
    case GANG_SELECT:
        node.op = HA_PROOF_SELECT;
        node.a = proof_node(build, value->operands[0]);
        node.b = proof_node(build, value->operands[1]);
        node.c = proof_node(build, value->operands[2]);
        return node;
    case GANG_CAST:
        return cast_node(build, value);
    case GANG_FREEZE:
        node.op = HA_PROOF_TRUNC; /* to its own bits */
        node.a = proof_node(build, value->operands[0]);
        return node;
    case GANG_PURE:
        return pure_node(build, value);
    case GANG_ADDRESS:
        return address_node(build, value);
    case GANG_PHI:
        return phi_node(build, value);
    case GANG_LOAD:
        return load_node(build, value);
    default:
        return node;
    }
}

uint32_t
proof_node(struct proof_build *build, uint32_t value)
{
    if (build->node_of[value] != HA_PROOF_NONE) {
        return build->node_of[value];
    }
    if (++build->depth > DEPTH_MOST) {
        gang_refuse(build->function, "values of values, %u deep", DEPTH_MOST);
    }
    uint32_t block = build->function->values[value].block;
    uint32_t loop = block == GANG_NONE ? HA_PROOF_NONE : build->flow.loops.inner[block];
    struct ha_proof_node none = unknown(build->function->values[value].type.bits);
    none.loop = loop;
    /* Its number first: values of loops are computed from themselves. */
    uint32_t number = build->node_of[value] = proof_add_node(build, none);
    struct ha_proof_node node = read_value(build, value);
    node.loop = loop;
    build->table->nodes[number] = node;
    build->depth--;
    return number;
}
