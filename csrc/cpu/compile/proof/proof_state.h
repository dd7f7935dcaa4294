/* SPDX-License-Identifier: MIT */
/* What the files of this folder share while one kernel is read. */
#ifndef HA_CPU_COMPILE_PROOF_STATE_H
#define HA_CPU_COMPILE_PROOF_STATE_H

#include "cpu/compile/gang/gang_flow.h"
#include "cpu/compile/gang/gang_ir.h"
#include "cpu/compile/proof/proof_build.h"

struct proof_build {
    struct gang_function *function;
    struct gang_flow flow;
    struct proof_table *table;
    uint32_t *node_of;    /* by value; HA_PROOF_NONE: not yet */
    uint32_t *context_of; /* by block; the same */
    uint8_t *changed;     /* by parameter: its record may be written */
    unsigned depth;       /* of values in values */
};

/* Each adds an element and gives its number. */
uint32_t proof_add_node(struct proof_build *build, struct ha_proof_node node);
uint32_t proof_add_context(struct proof_build *build, struct ha_proof_context context);
uint32_t proof_add_edges(struct proof_build *build, const struct ha_proof_edge *edges,
                         uint32_t count);

/* proof_value.c: the node of a value. */
uint32_t proof_node(struct proof_build *build, uint32_t value);

/* proof_place.c: what holds in a block, and where control goes from one to the next. */
uint32_t proof_context(struct proof_build *build, uint32_t block);
uint32_t proof_edge_context(struct proof_build *build, uint32_t from, uint32_t to);
void proof_read_loops(struct proof_build *build);

/* proof_root.c: the root that an address is computed from, or HA_PROOF_NONE. */
uint32_t proof_root(struct proof_build *build, uint32_t value);
void proof_find_changed(struct proof_build *build);

/* proof_meet.c: fills `after`, `loop` and `crosses` of the accesses, which have the
 * numbers of their calls in `values`. */
void proof_read_barriers(struct proof_build *build, const uint32_t *values);

#endif
