/* SPDX-License-Identifier: MIT */
/* What the files of the proof share: one struct proof for each launch that is looked
 * at, in the thread that looks. */
#ifndef HA_CPU_CHECK_PROOF_STATE_H
#define HA_CPU_CHECK_PROOF_STATE_H

#include "cpu/check/proof.h"

/* Values of a node, as a signed number of its bits; of one bit: 0 and 1.  Empty where
 * low > high: nobody comes there. */
struct proof_range {
    int64_t low, high;
    uint32_t twos; /* all of them are multiples of this power of two */
};

struct proof_cell {
    uint32_t stamp; /* of the fill that it is of */
    uint32_t depth; /* where it is being found; 0: it is known */
    struct proof_range range;
};

/* Variables of linear functions: coordinates of lanes and blocks, rounds of loops. */
#define PROOF_LANES 6u
#define PROOF_LOOPS 10u
#define PROOF_VARIABLES (PROOF_LANES + PROOF_LOOPS)

/* constant + the sum of factor * variable + something in [low, high] */
struct proof_form {
    int64_t factor[PROOF_VARIABLES];
    int64_t constant;
    int64_t low, high;
};

/* A node that is a linear function of variables alone. */
struct proof_part {
    uint32_t node;
    struct proof_form form;
};
#define PROOF_PARTS_MOST 48u

struct proof_address {
    const struct ha_proof_access *access;
    struct proof_range range; /* of its first byte */
    struct proof_form form;
    struct proof_part parts[PROOF_PARTS_MOST];
    uint32_t part_count;
    bool dead; /* nobody comes there */
};

struct proof {
    const struct ha_proof_launch *launch;
    const struct ha_proof *table;
    struct proof_cell *cells; /* by context and node; owned, as are the next */
    int64_t *rounds;       /* by loop: at most so many after the first; -1: unknown */
    uint8_t *rounds_state; /* 1: being found, 2: known */
    int64_t *fixed;    /* by node: what a ROUND is in the round at hand; owned, too */
    uint8_t *is_fixed; /* by node; 0: it is any of its values */
    uint32_t stamp;
    uint32_t depth;
    uint32_t open;   /* the outermost cell that was asked for while it is found */
    uint32_t budget; /* steps that may still be taken */
};

/* proof_range.c */
struct proof_range proof_range_of(struct proof *proof, uint32_t node, uint32_t context);
struct proof_range proof_full(unsigned bits);
struct proof_range proof_point(int64_t value);
bool proof_is_empty(struct proof_range range);
bool proof_is_point(struct proof_range range);

/* proof_bound.c: takes away what the conditions of a context exclude. */
void proof_narrow(struct proof *proof, uint32_t node, uint32_t context,
                  struct proof_range *range);
/* A number that the node is not in the context, and never in the loop before; false:
 * there is none. */
bool proof_stop(struct proof *proof, uint32_t node, uint32_t context, uint32_t loop,
                struct proof_range *stop);
/* Whether nobody comes there. */
bool proof_is_dead(struct proof *proof, uint32_t context);

/* proof_loop.c: what a ROUND is in all rounds; what is added in each; how many there
 * are after the first, or -1. */
struct proof_range proof_round(struct proof *proof, uint32_t node);
bool proof_step(struct proof *proof, uint32_t node, struct proof_range *step);
int64_t proof_rounds(struct proof *proof, uint32_t loop);

/* proof_linear.c */
void proof_linear(struct proof *proof, struct proof_address *address);
/* What a form can be, told by its parts as well. */
struct proof_range proof_form_range(struct proof *proof,
                                    const struct proof_address *address);
/* The greatest value of a variable, which starts at 0; -1: it is not known. */
int64_t proof_variable(struct proof *proof, unsigned variable);

/* proof_each.c: whether `holds` is true in each round of a loop that all lanes do
 * alike: one by one, with the values that the loop has in them.  False where they are
 * not known, or too many. */
typedef bool proof_holds(struct proof *proof, void *context);
bool proof_each_round(struct proof *proof, uint32_t loop, proof_holds *holds,
                      void *context);

/* proof_apart.c: whether no two lanes can meet in the two accesses, which may be one.
 * `block`: lanes of one block.  `loop`: both are in one round of it, or HA_PROOF_NONE.
 */
bool proof_apart(struct proof *proof, const struct proof_address *a,
                 const struct proof_address *b, bool block, uint32_t loop);

#endif
