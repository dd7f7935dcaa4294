/* SPDX-License-Identifier: MIT */
/* What addresses are computed from, and which records of arguments stay what they are.
 */
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/proof/proof_state.h"
#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_state.h"

#define DEPTH_MOST 64u

static uint32_t
add_root(struct proof_build *build, struct ha_proof_root root, struct ir_slice name)
{
    struct proof_table *table = build->table;

    for (uint32_t i = 0; i < table->root_count; i++) {
        const struct ha_proof_root *other = &table->roots[i];
        if (other->kind == root.kind && other->argument == root.argument &&
            other->bytes == root.bytes && other->offset == root.offset &&
            ir_same(table->root_names[i], name)) {
            return i;
        }
    }
    if (table->root_count == table->root_capacity) {
        uint32_t capacity = 2 * table->root_capacity + 16;
        struct ir_arena *arena = build->function->arena;
        struct ha_proof_root *roots = ir_alloc(arena, capacity, sizeof *roots);
        struct ir_slice *names = ir_alloc(arena, capacity, sizeof *names);
        for (uint32_t i = 0; i < table->root_count; i++) {
            roots[i] = table->roots[i];
            names[i] = table->root_names[i];
        }
        table->roots = roots;
        table->root_names = names;
        table->root_capacity = capacity;
    }
    table->roots[table->root_count] = root;
    table->root_names[table->root_count] = name;
    return table->root_count++;
}

static uint32_t
variable_root(struct proof_build *build, struct ir_slice name)
{
    struct ha_rewriter *rewriter = build->function->rewriter;

    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        if (ir_same(global->name, name)) {
            bool constant = global->space == 4 || !ha_is_variable(global);
            return add_root(
                build,
                (struct ha_proof_root){
                    .kind = constant ? HA_ROOT_CONSTANT : HA_ROOT_VARIABLE,
                    .bytes = ir_layout_of(&rewriter->types, global->type).size},
                name);
        }
    }
    return HA_PROOF_NONE;
}

static uint32_t
parameter_root(struct proof_build *build, const struct gang_value *value)
{
    const struct ir_param *param = &build->function->source->params[value->extra];
    struct ha_proof_root root = {.kind = HA_ROOT_POINTER,
                                 .argument = (uint32_t)value->extra};

    if (param->byval.size > 0) {
        struct ir_layout layout =
            ir_layout_of(&build->function->rewriter->types, param->byval);
        root.kind = HA_ROOT_ARGUMENT;
        root.bytes = layout.size;
        root.offset = param->align > 0 ? param->align : layout.align;
    } else if (value->type.kind != GANG_POINTER) {
        return HA_PROOF_NONE;
    }
    return add_root(build, root, (struct ir_slice){0});
}

static uint32_t
shared_root(struct proof_build *build, const struct gang_value *value)
{
    struct gang_function *function = build->function;
    const struct ha_ir_function_info *info =
        &function->rewriter->infos[function->number];
    struct ha_proof_root root = {.kind = HA_ROOT_DYNAMIC,
                                 .offset = info->shared_static};

    if (value->op == GANG_SHARED) {
        root.kind = HA_ROOT_SHARED;
        root.bytes = function->rewriter->shared[value->extra].size;
        root.offset = info->offsets[value->extra];
    }
    return add_root(build, root, (struct ir_slice){0});
}

static uint32_t
local_root(struct proof_build *build, uint32_t number)
{
    /* Each variable is one of its own. */
    return add_root(
        build,
        (struct ha_proof_root){.kind = HA_ROOT_LOCAL,
                               .argument = number,
                               .bytes = build->function->values[number].extra,
                               .offset = build->function->values[number].align},
        (struct ir_slice){0});
}

static uint32_t root_in(struct proof_build *build, uint32_t number, unsigned depth);

/* Of several addresses, if all have it; those that lead back to this one do not count.
 */
static uint32_t
common_root(struct proof_build *build, const struct gang_value *value, uint32_t first,
            unsigned depth)
{
    uint32_t common = HA_PROOF_NONE;

    for (uint32_t i = first; i < value->operand_count; i++) {
        const struct gang_value *of = &build->function->values[value->operands[i]];
        while (of->op == GANG_ADDRESS) {
            of = &build->function->values[of->operands[0]];
        }
        if (of == value) {
            continue;
        }
        uint32_t root = root_in(build, value->operands[i], depth);
        if (root == HA_PROOF_NONE || (common != HA_PROOF_NONE && common != root)) {
            return HA_PROOF_NONE;
        }
        common = root;
    }
    return common;
}

static uint32_t
root_in(struct proof_build *build, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &build->function->values[number];

    if (depth > DEPTH_MOST) {
        return HA_PROOF_NONE;
    }
    switch (value->op) {
    case GANG_PARAMETER:
        return parameter_root(build, value);
    case GANG_CONSTANT:
        return value->word.size > 0 && value->word.at[0] == '@'
                   ? variable_root(build, value->word)
                   : HA_PROOF_NONE;
    case GANG_SHARED:
    case GANG_DYNAMIC:
        return shared_root(build, value);
    case GANG_ALLOCA:
        return local_root(build, number);
    case GANG_ADDRESS:
    case GANG_FREEZE:
        return root_in(build, value->operands[0], depth + 1);
    case GANG_CAST:
        return ir_is(value->word, "addrspacecast")
                   ? root_in(build, value->operands[0], depth + 1)
                   : HA_PROOF_NONE;
    case GANG_SELECT:
        return common_root(build, value, 1, depth + 1);
    case GANG_PHI:
        return common_root(build, value, 0, depth + 1);
    default:
        return HA_PROOF_NONE;
    }
}

uint32_t
proof_root(struct proof_build *build, uint32_t value)
{
    return root_in(build, value, 0);
}

/* ---- records of arguments ---- */

/* What a value may let happen to memory that an operand of it points to. */
static bool
only_reads(const struct gang_value *value, uint32_t operand)
{
    return value->op == GANG_LOAD || value->op == GANG_CHECK ||
           value->op == GANG_COMPARE || (value->op == GANG_COPY && operand == 1);
}

void
proof_find_changed(struct proof_build *build)
{
    const struct gang_function *function = build->function;
    uint32_t *from =
        ir_alloc(function->arena, function->value_count + 1u, sizeof *from);
    bool grows = true;

    for (uint32_t v = 0; v < function->value_count; v++) {
        const struct gang_value *value = &function->values[v];
        bool record = value->op == GANG_PARAMETER &&
                      function->source->params[value->extra].byval.size > 0;
        from[v] = record ? (uint32_t)value->extra + 1 : 0;
    }
    while (grows) {
        grows = false;
        for (uint32_t v = 0; v < function->value_count; v++) {
            const struct gang_value *value = &function->values[v];
            for (uint32_t i = 0; i < value->operand_count; i++) {
                uint32_t param = from[value->operands[i]];
                if (param == 0 || only_reads(value, i)) {
                    continue;
                }
                if (value->op != GANG_ADDRESS || i > 0) {
                    build->changed[param - 1] = 1;
                } else if (from[v] == 0) {
                    from[v] = param;
                    grows = true;
                }
            }
        }
    }
}
