/* SPDX-License-Identifier: MIT */
/* How a checked kernel computes the addresses of its accesses, for who proves them
 * right when the numbers of a launch are known (cpu/check/proof.h).
 *
 * A *node* is a value of the kernel: a number, an argument, a coordinate, or an
 * operation on nodes.  It has the bits of an integer, and wraps as that does.  A
 * *context* is what must hold where code runs: a condition, and the context around it.
 * Context 0 is that of the whole kernel and has no condition.  An *access* is one call
 * of the device's check: an address that begins at a *root*, in a context.
 *
 *     if (i < n) a[i] = 0;     nodes     0 block_x  1 block_dim_x  2 mul 0 1
 *                                        3 thread_x  4 add 2 3   5 argument 1
 *                                        6 compare slt 4 5  7 sext 4  8 number 4
 *                                        9 mul 7 8  10 argument 0  11 add 10 9
 *                              contexts  0 -   1 around 0: node 6 is 1
 *                              accesses  address 11, root 0, context 1, 4 bytes
 *                              roots     0 what argument 0 points to
 *
 * Nodes stand in no order.  Addresses of variables of the block, and of the lane, count
 * from their begin.  The structs are written as IR by cpu/compile/proof/proof_table.c.
 */
#ifndef HA_CPU_BASE_PROOF_H
#define HA_CPU_BASE_PROOF_H

#include <stddef.h>
#include <stdint.h>

#define HA_PROOF_NONE UINT32_MAX

enum ha_proof_op {
    HA_PROOF_UNKNOWN,    /* any value of its bits */
    HA_PROOF_NUMBER,     /* `number` */
    HA_PROOF_ARGUMENT,   /* bits / 8 bytes at offset `b` of argument `a` */
    HA_PROOF_COORDINATE, /* `number` is an enum ha_proof_coordinate */
    HA_PROOF_BEGIN,      /* where a root begins that addresses count from: `a` */
    HA_PROOF_ADD,        /* of `a` and `b`, as all up to SREM */
    HA_PROOF_SUB,
    HA_PROOF_MUL,
    HA_PROOF_SHL,
    HA_PROOF_LSHR,
    HA_PROOF_ASHR,
    HA_PROOF_AND,
    HA_PROOF_OR,
    HA_PROOF_XOR,
    HA_PROOF_UDIV,
    HA_PROOF_SDIV,
    HA_PROOF_UREM,
    HA_PROOF_SREM,
    HA_PROOF_SMIN,
    HA_PROOF_SMAX,
    HA_PROOF_UMIN,
    HA_PROOF_UMAX,
    HA_PROOF_TRUNC, /* of `a`, as the next two */
    HA_PROOF_ZEXT,
    HA_PROOF_SEXT,
    HA_PROOF_SELECT,  /* by `a`: `b` or `c` */
    HA_PROOF_COMPARE, /* of `a` and `b`; `number` is an enum ha_proof_order */
    HA_PROOF_JOIN,    /* one of `b` edges from `a` on */
    HA_PROOF_ROUND, /* of loop `c`: `a` when it begins, then `b` of the round before */
};

enum ha_proof_coordinate { /* x, y, z of each */
                           HA_PROOF_THREAD = 0,
                           HA_PROOF_BLOCK = 3,
                           HA_PROOF_BLOCK_DIM = 6,
                           HA_PROOF_GRID_DIM = 9,
};

enum ha_proof_order {
    HA_PROOF_EQ,
    HA_PROOF_NE,
    HA_PROOF_SLT,
    HA_PROOF_SLE,
    HA_PROOF_SGT,
    HA_PROOF_SGE,
    HA_PROOF_ULT,
    HA_PROOF_ULE,
    HA_PROOF_UGT,
    HA_PROOF_UGE,
};

struct ha_proof_node {
    uint16_t op; /* enum ha_proof_op */
    uint16_t bits;
    uint32_t a, b, c;
    uint32_t loop;     /* the innermost one that it is computed in, or HA_PROOF_NONE */
    uint32_t disjoint; /* OR: no bit is set in both, so it is a sum */
    int64_t number;
};

struct ha_proof_context {
    uint32_t around;
    uint32_t condition; /* a node of one bit */
    uint32_t wanted;    /* 0 or 1 */
};

/* What a join is, where control comes from one block. */
struct ha_proof_edge {
    uint32_t value;
    uint32_t context;
};

struct ha_proof_loop {
    uint32_t around;  /* the loop that it is in, or HA_PROOF_NONE */
    uint32_t begin;   /* context in which it begins */
    uint32_t again;   /* context in which a round follows on another */
    uint32_t in_step; /* lanes of a block do its rounds together: in each they meet, at
                         the same barriers */
};

struct ha_proof_root {
    uint32_t kind;     /* enum ha_check_root of cpu/base/image.h */
    uint32_t argument; /* of a POINTER: its number */
    uint64_t bytes;    /* of a variable; 0: as many as the launch gives */
    void *address;     /* of a VARIABLE or CONSTANT, else NULL */
    uint64_t offset;   /* of SHARED and DYNAMIC: in the memory of the block; of LOCAL
                          and ARGUMENT: the alignment */
};

/* What may be with no barrier between it and an access. */
enum ha_proof_crossing {
    HA_PROOF_ROUND_BEGUN = 1,
    HA_PROOF_ROUND_ENDS = 2,
    HA_PROOF_LOOP_LEFT = 4
};

#define HA_PROOF_BEHIND_MOST 64u /* loops that `behind` has bits of */

struct ha_proof_access {
    uint32_t address, context, root;
    uint32_t what;    /* enum ha_site_bits */
    uint32_t bytes;   /* never 0 */
    uint32_t loop;    /* the outermost one in step around it, or HA_PROOF_NONE */
    uint32_t crosses; /* enum ha_proof_crossing bits, of that loop */
    uint32_t line;
    uint64_t after;  /* barriers, a bit each, that lanes may have met at last before it;
                        the lowest bit: none */
    uint64_t behind; /* loops in step, a bit each, that all lanes have left together
                        that come to it */
};

struct ha_image_kernel;

struct ha_proof {
    const struct ha_image_kernel *plain; /* offset 0: the kernel without questions */
    const struct ha_proof_node *nodes;
    const struct ha_proof_context *contexts;
    const struct ha_proof_edge *edges;
    const struct ha_proof_loop *loops;
    const struct ha_proof_root *roots;
    const struct ha_proof_access *accesses;
    uint32_t node_count, context_count, edge_count, loop_count;
    uint32_t root_count, access_count;
    uint32_t parts; /* 1: lanes of a block may wait at different barriers */
};

_Static_assert(sizeof(struct ha_proof_node) == 32, "layout is in IR");
_Static_assert(sizeof(struct ha_proof_context) == 12, "layout is in IR");
_Static_assert(sizeof(struct ha_proof_edge) == 8, "layout is in IR");
_Static_assert(sizeof(struct ha_proof_loop) == 16, "layout is in IR");
_Static_assert(sizeof(struct ha_proof_root) == 32, "layout is in IR");
_Static_assert(sizeof(struct ha_proof_access) == 48, "layout is in IR");
_Static_assert(sizeof(struct ha_proof) == 88, "layout is in IR");

#endif
