/* SPDX-License-Identifier: MIT */
/* What the addresses of a checked kernel are computed from (cpu/base/proof.h), read off
 * its IR with the questions in it: so what is proved is what would be asked. */
#ifndef HA_CPU_COMPILE_PROOF_BUILD_H
#define HA_CPU_COMPILE_PROOF_BUILD_H

#include "cpu/base/proof.h"
#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* A table before it is written, in the arena of the rewrite. */
struct proof_table {
    struct ha_proof_node *nodes;
    struct ha_proof_context *contexts;
    struct ha_proof_edge *edges;
    struct ha_proof_loop *loops;
    struct ha_proof_root *roots;
    struct ir_slice *root_names; /* of a VARIABLE or CONSTANT: "@x" */
    struct ha_proof_access *accesses;
    uint32_t node_count, context_count, edge_count, loop_count;
    uint32_t root_count, access_count;
    uint32_t parts; /* as in struct ha_proof */
    uint32_t node_capacity, context_capacity, edge_capacity;
    uint32_t root_capacity, access_capacity;
};

/* The table of kernel `number`; false where something in it can never be proved. */
bool ha_proof_build(struct ha_rewriter *rewriter, uint32_t number,
                    struct proof_table *table);

/* Writes a table as @__ha_proof.<row>, with the twin @__ha_plain.<row>. */
void ha_proof_write(const struct proof_table *table, uint32_t row, struct ir_out *out);

#endif
