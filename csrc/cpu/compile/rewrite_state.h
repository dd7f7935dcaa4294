/* SPDX-License-Identifier: MIT */
/* What the files of the rewriter share.  One struct ha_rewriter lives for one
 * ha_rewrite; everything it points to is borrowed from its arena.
 *
 * Vocabulary: a *form* is a way to write a function: the reference form of a kernel
 * runs one lane and asks the device at barriers; the body form is one lane of the fast
 * executor with its place as parameters; a plain function keeps its shape and asks the
 * device which lane it works for.  A *leaf* is a comparison that decides the same for
 * all lanes of a row, if it does so for the first and the last one. */
#ifndef HA_CPU_COMPILE_REWRITE_STATE_H
#define HA_CPU_COMPILE_REWRITE_STATE_H

#include "cpu/compile/ir_flow.h"
#include "cpu/compile/ir_text.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite.h"

#define HA_LEAVES_MAX 32u

/* Fast forms count lanes in 32 bits: a launch with more of them in a direction than
 * this runs the reference form lane by lane. */
#define HA_INDEX_END ((int64_t)1 << 30)
#define HA_BLOCK_MOST 1024

/* Functions touch each page of a large frame in turn, so that none jumps over the guard
 * page below a lane's stack. */
#define HA_PROBED "\"probe-stack\"=\"inline-asm\""

struct ha_shared {
    struct ir_slice name;
    uint64_t size;
    uint64_t align;
    uint64_t offset; /* in the memory that all kernels have in common */
    bool dynamic;
    bool common; /* used by a function that is not a kernel */
};

struct ha_ir_function_info {
    uint32_t *calls; /* functions of the module that it calls */
    uint32_t call_count;
    bool indirect; /* calls through a pointer */
    bool block;    /* these four: itself, later also through calls */
    bool warp;
    bool lane; /* asks for its place or for shared memory */
    bool pause;
    bool dynamic;           /* names dynamic shared memory */
    bool ordered;           /* has atomic or volatile accesses or fences */
    bool stack;             /* has allocas */
    uint8_t *shared;        /* a flag per shared variable */
    uint32_t max_threads;   /* kernels: of __launch_bounds__, or 0 */
    uint64_t shared_static; /* kernels: bytes */
    uint64_t *offsets;      /* kernels: of each shared variable */
};

struct ha_rewriter {
    struct ir_arena *arena;
    const struct ha_rewrite_request *request;
    struct ir_module module;
    struct ir_types types;
    struct ir_map functions; /* name -> number */
    struct ha_ir_function_info *infos;
    struct ir_map shared_names;
    struct ha_shared *shared;
    uint32_t shared_count;
    uint8_t *live_functions; /* a flag each: kernels can reach it */
    uint8_t *live_globals;
    uint8_t *held;                 /* a flag per kernel: something has its address */
    struct ir_map used;            /* names of declarations that live code needs */
    struct ir_map kept_attributes; /* "#n" of declared library functions */
    struct ir_out out;
    struct ir_out tail; /* constants that functions need */
    uint32_t block_sites;
    uint32_t warp_sites;
    uint32_t loops;
    uint32_t metadata;   /* next free number */
    struct ir_map nodes; /* name of the front end's metadata -> 1 if it stays */
    bool *fast;          /* per function: has a fast form */
    bool loops_store;    /* what ha_rewrite_loops_store said */
    uint32_t guards;     /* values that questions before accesses need */
};

/* One form of a function, as it is written. */
enum ha_form { HA_FORM_REFERENCE, HA_FORM_FUNCTION, HA_FORM_BODY };

/* What the fast executor may assume about a kernel; made by ha_fast_study. */
struct ha_fast {
    struct ir_values values;
    uint8_t *flagged;    /* index arithmetic that cannot wrap in a fast launch */
    uint32_t most_const; /* largest constant block width that was flagged */
    uint32_t leaf_of[HA_LEAVES_MAX]; /* numbers of instructions */
    uint32_t leaf_count;
    bool parallel; /* plain loads and stores only */
    bool spans;    /* rows may go on through neighbouring blocks */
};

/* Where lanes of a warp can meet in a kernel; empty where they can't. */
struct ha_sites {
    const struct ir_function *function;
    struct ir_flow flow;
    uint32_t *loop_ids; /* loop of the flow -> number in the module; NULL: no sites */
    uint8_t *polls;     /* loops that wait for memory to change */
};

struct ha_body {
    enum ha_form form;
    const struct ha_fast *fast; /* body form */
    const char *suffix;         /* body form: "a" or "b" */
    bool leaves;                /* leaves are parameters */
    bool flags;                 /* flagged instructions get nuw nsw */
};

/* Fills functions, infos and shared memory. */
void ha_rewrite_scan(struct ha_rewriter *rewriter);

/* Marks accesses of a kernel that lanes make in step: volatile ones of shared memory.
 */
void ha_sites_find_steps(struct ha_rewriter *rewriter, uint32_t number);
/* Whether a kernel has a loop that waits for memory to change. */
bool ha_sites_polls(struct ha_rewriter *rewriter, uint32_t number);
/* Numbers the sites of a kernel in program order, and finds the loops that count
 * rounds. */
void ha_sites_read(struct ha_rewriter *rewriter, uint32_t number,
                   struct ha_sites *sites);
/* The loop that begins at a block and has something to write, or IR_NONE. */
uint32_t ha_sites_loop_at(const struct ha_sites *sites, uint32_t block);
/* What such a loop has before the other phis of its first block, and behind them. */
void ha_sites_write_phi(const struct ha_sites *sites, uint32_t loop,
                        struct ir_out *out);
void ha_sites_write_round(const struct ha_sites *sites, uint32_t loop,
                          struct ir_out *out);
/* The meeting of the warp before an access that is made in step. */
void ha_sites_write_step(const struct ha_rewriter *rewriter, const struct ir_inst *inst,
                         struct ir_out *out);

/* The text of what questions call, and the question before an instruction, if it
 * accesses memory. */
extern const char ha_guard_function[];
void ha_guard_write(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                    struct ir_out *out);

/* Writes function `number` in one form. */
void ha_body_write(struct ha_rewriter *rewriter, uint32_t number,
                   const struct ha_body *body);

/* Decides whether the kernel has a fast form and what it may assume. */
bool ha_fast_study(struct ha_rewriter *rewriter, uint32_t number, struct ha_fast *fast);
/* Whether the vectoriser might move accesses of one lane past each other, if the lanes
 * of the kernel are declared independent. */
bool ha_hazard_reorders(struct ha_rewriter *rewriter, uint32_t number,
                        const struct ir_values *values);
/* Writes the function that answers all leaves for one lane, a bit each. */
void ha_leaves_write(struct ha_rewriter *rewriter, uint32_t number,
                     const struct ha_fast *fast);
/* Writes the bodies, the leaf function and the loops around them. */
void ha_fast_write(struct ha_rewriter *rewriter, uint32_t number,
                   const struct ha_fast *fast);

/* Whether a loop of a kernel, or a function that kernels call, loads and stores more
 * than once a round: then the back end must not carry values from round to round. */
bool ha_rewrite_loops_store(struct ha_rewriter *rewriter);

/* Writes the tables that the loader finds kernels and variables by (cpu/base/image.h);
 * needs to know which kernels have a fast form. */
void ha_rewrite_tables(struct ha_rewriter *rewriter);

/* Writes the functions that the back end calls for half, bfloat16 and powers of
 * integers where the processor has no instruction, if the program may need them. */
void ha_rewrite_half(struct ha_rewriter *rewriter);

#endif
