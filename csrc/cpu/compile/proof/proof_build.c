/* SPDX-License-Identifier: MIT */
#include "cpu/compile/proof/proof_build.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_place.h"
#include "cpu/compile/proof/proof_state.h"
#include "cpu/compile/rewrite_state.h"

#define NODES_MOST 4096u
#define ACCESSES_MOST 256u

/* ---- arrays ---- */

/* Room for one more: a larger copy where there is none. */
static void *
grow(struct proof_build *build, void *items, uint32_t count, uint32_t *capacity,
     size_t size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = 2 * *capacity + 32;
    void *larger = ir_alloc(build->function->arena, *capacity, size);
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

uint32_t
proof_add_node(struct proof_build *build, struct ha_proof_node node)
{
    struct proof_table *table = build->table;

    if (table->node_count == NODES_MOST) {
        gang_refuse(build->function, "more than %u values", NODES_MOST);
    }
    table->nodes = grow(build, table->nodes, table->node_count, &table->node_capacity,
                        sizeof *table->nodes);
    table->nodes[table->node_count] = node;
    return table->node_count++;
}

uint32_t
proof_add_context(struct proof_build *build, struct ha_proof_context context)
{
    struct proof_table *table = build->table;

    for (uint32_t i = 0; i < table->context_count; i++) {
        if (memcmp(&table->contexts[i], &context, sizeof context) == 0) {
            return i;
        }
    }
    table->contexts = grow(build, table->contexts, table->context_count,
                           &table->context_capacity, sizeof *table->contexts);
    table->contexts[table->context_count] = context;
    return table->context_count++;
}

uint32_t
proof_add_edges(struct proof_build *build, const struct ha_proof_edge *edges,
                uint32_t count)
{
    struct proof_table *table = build->table;
    uint32_t first = table->edge_count;

    for (uint32_t i = 0; i < count; i++) {
        table->edges = grow(build, table->edges, table->edge_count,
                            &table->edge_capacity, sizeof *table->edges);
        table->edges[table->edge_count++] = edges[i];
    }
    return first;
}

/* ---- accesses ---- */

/* False: there is nothing to prove. */
static bool
read_access(struct proof_build *build, uint32_t number, struct ha_proof_access *access)
{
    struct gang_function *function = build->function;
    const struct gang_value *value = &function->values[number];
    int64_t bytes = 0, what = 0;

    if (!gang_integer(function, value->operands[1], &bytes) || bytes < 0 ||
        bytes > INT32_MAX || !gang_integer(function, value->operands[2], &what)) {
        gang_refuse(function, "an access of a size that is known at run time");
    }
    if (bytes == 0) {
        return false;
    }
    *access = (struct ha_proof_access){
        .address = proof_node(build, value->operands[0]),
        .root = proof_root(build, value->operands[0]),
        .context = proof_context(build, value->block),
        .what = (uint32_t)what,
        .bytes = (uint32_t)bytes,
        .loop = HA_PROOF_NONE,
        .line = ir_place_of(&function->rewriter->module, value->source).line,
    };
    if (access->root == HA_PROOF_NONE) {
        gang_refuse(function, "an address that comes from memory, or from several");
    }
    return true;
}

static void
read_accesses(struct proof_build *build)
{
    struct gang_function *function = build->function;
    struct proof_table *table = build->table;
    uint32_t values[ACCESSES_MOST];

    table->accesses = ir_alloc(function->arena, ACCESSES_MOST, sizeof *table->accesses);
    for (uint32_t place = 0; place < build->flow.count; place++) {
        const struct gang_block *block = &function->blocks[build->flow.at[place]];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t number = block->insts[i];
            const struct gang_value *value = &function->values[number];
            uint32_t called;
            if (value->op == GANG_CALL &&
                ir_map_get(&function->rewriter->functions, value->text, &called)) {
                gang_refuse(function, "a call that is not inlined");
            }
            if (value->op != GANG_CHECK) {
                continue;
            }
            if (table->access_count == ACCESSES_MOST) {
                gang_refuse(function, "more than %u accesses", ACCESSES_MOST);
            }
            if (read_access(build, number, &table->accesses[table->access_count])) {
                values[table->access_count++] = number;
            }
        }
    }
    proof_read_barriers(build, values);
}

/* A function of its own, so that no local survives the jump of gang_refuse. */
static bool
try_build(struct proof_build *build)
{
    struct gang_function *function = build->function;

    if (setjmp(function->refused) != 0) {
        return false;
    }
    gang_read(function);
    gang_flow_read(function, &build->flow);
    build->node_of =
        ir_alloc(function->arena, function->value_count + 1u, sizeof(uint32_t));
    build->context_of =
        ir_alloc(function->arena, function->block_count + 1u, sizeof(uint32_t));
    build->changed = ir_alloc(function->arena, function->source->param_count + 1u, 1);
    memset(build->node_of, 0xff, function->value_count * sizeof(uint32_t));
    memset(build->context_of, 0xff, function->block_count * sizeof(uint32_t));
    proof_find_changed(build);
    proof_add_context(build, (struct ha_proof_context){.condition = HA_PROOF_NONE});
    proof_read_loops(build);
    read_accesses(build);
    return true;
}

bool
ha_proof_build(struct ha_rewriter *rewriter, uint32_t number, struct proof_table *table)
{
    struct gang_function function = {.rewriter = rewriter,
                                     .source = &rewriter->module.functions[number],
                                     .number = number,
                                     .arena = rewriter->arena,
                                     .asks = true};
    struct proof_build build = {.function = &function, .table = table};

    *table = (struct proof_table){0};
    return try_build(&build);
}
