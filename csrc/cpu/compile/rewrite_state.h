/* SPDX-License-Identifier: MIT */
/* What the files of the rewriter share.  One struct ha_rewriter lives for one
 * ha_rewrite; everything it points to is borrowed from its arena.
 *
 * Each pass is a file with a header of its own; the passes that need each other need
 * each other in one direction only. */
#ifndef HA_CPU_COMPILE_REWRITE_STATE_H
#define HA_CPU_COMPILE_REWRITE_STATE_H

#include "cpu/compile/ir_text.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/rewrite_parts.h"

#define HA_FORMS_MAX 4u /* of one kernel */

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
    bool lane; /* asks for coordinates or for shared memory */
    bool pause;
    bool dynamic;                 /* names dynamic shared memory */
    bool ordered;                 /* has atomic or volatile accesses or fences */
    bool stack;                   /* has allocas */
    uint8_t *shared;              /* a flag per shared variable */
    uint8_t lockstep;             /* kernels: enum ha_lockstep */
    struct ir_slice lockstep_why; /* kernels: what was seen, for people */
    uint32_t max_threads;         /* kernels: of __launch_bounds__, or 0 */
    uint64_t shared_static;       /* kernels: bytes */
    uint64_t *offsets;            /* kernels: of each shared variable */
};

/* Metadata of cpu/compile/rewrite_numbers.h: of the module, 0 before the first
 * function, and of the function that is written. */
struct ha_numbers_nodes {
    uint32_t unit, file, type;
    uint32_t function, nowhere;
    uint32_t *of_place; /* by number of the place; 0: none yet */
};

struct ha_rewriter {
    struct ir_arena *arena;
    struct ir_slice text; /* this and the next four: of the request */
    uint32_t warp_size;
    uint32_t name_count;
    uint32_t gang_width;
    uint32_t math_bytes; /* of vectors that libmvec is called with; 0: it is not */
    char vector_math;    /* of its names for these */
    bool guard;
    bool check;
    bool numbers;
    struct ha_numbers_nodes numbers_nodes;
    bool shadow;
    struct proof_table **proofs; /* per function: of a checked kernel, or NULL */
    uint32_t *plains; /* per function: of such a kernel, its twin; IR_NONE else */
    struct ir_slice source, source_name; /* for places; empty: not known */
    uint32_t check_sites;
    bool lockstep; /* all kernels are wanted in step */
    bool fuses;
    bool control; /* live code may change floating point control */
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
    struct ir_out out;  /* the rest, or a piece: cpu/compile/rewrite_parts.h */
    struct ir_out tail; /* constants that functions need */
    struct ha_pieces pieces;
    uint32_t block_sites;
    uint32_t warp_sites;
    uint32_t loops;
    struct ha_first_numbers first; /* of what is written: cpu/compile/rewrite_parts.h */
    uint32_t metadata;             /* next free number */
    struct ir_map nodes;      /* name of the front end's metadata -> 1 if it stays */
    bool *fast;               /* per function: has a fast form */
    struct ir_map declared;   /* names of functions that are declared */
    struct ir_out intrinsics; /* declarations that gang forms need */
    struct ha_gang *gangs;    /* per function */
    struct ir_slice *reports; /* per function: cpu/compile/report.h */
    bool loops_store;         /* what ha_rewrite_loops_store said */
    bool narrow_steps;        /* what ha_rewrite_narrow_steps said */
    uint32_t guards;          /* values that questions before accesses need */
};

#endif
