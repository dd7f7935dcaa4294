/* SPDX-License-Identifier: MIT */
/* A kernel as a structure: values with types and uses, blocks with edges.
 *
 * A *value* is a parameter, a constant, or what an instruction is; all have numbers of
 * one kind, so an operand is a number.  Instructions that define nothing (stores,
 * branches) are values of type void.
 *
 *     %c = icmp slt i32 %i, %n      values[7] = { GANG_COMPARE, i32, operands 4 2,
 *                                                 word "slt", block 0 }
 *     br i1 %c, label %a, label %b  values[8] = { GANG_BRANCH, operands 7 }
 *                                   blocks[0].next = { 1, 2 }
 *
 * Addresses are in bytes: a getelementptr is a base, a constant and indices with
 * scales.  A block ends behind each barrier, so a barrier is the last instruction but
 * one of its block.  Everything lies in the arena of the rewrite; what the gang form
 * does not know makes the reader refuse the kernel, with a reason. */
#ifndef HA_CPU_COMPILE_GANG_IR_H
#define HA_CPU_COMPILE_GANG_IR_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

#define GANG_NONE UINT32_MAX

enum gang_kind { GANG_VOID, GANG_INT, GANG_FLOAT, GANG_BFLOAT, GANG_POINTER };

struct gang_type {
    uint8_t kind;  /* enum gang_kind */
    uint8_t bytes; /* in memory */
    uint16_t bits;
};

enum gang_op {
    GANG_PARAMETER,
    GANG_CONSTANT, /* `word` is its text */
    GANG_SHARED,   /* address of a shared variable, `extra` */
    GANG_DYNAMIC,  /* address of dynamic shared memory */
    GANG_COORDINATE,
    GANG_BINARY,  /* `word` is the operation, as in the next seven */
    GANG_NEGATE,  /* fneg */
    GANG_COMPARE, /* `word` is the predicate; of integers and pointers, or floats */
    GANG_SELECT,
    GANG_CAST,
    GANG_FREEZE,
    GANG_PURE, /* an intrinsic or function of the C library, element by element */
    GANG_ADDRESS,
    GANG_PHI,
    GANG_LOAD,
    GANG_STORE,
    GANG_ATOMIC,   /* atomicrmw; `word` is the operation */
    GANG_EXCHANGE, /* cmpxchg: what was there; its success is a GANG_SUCCESS */
    GANG_SUCCESS,
    GANG_FENCE,
    GANG_ALLOCA,
    GANG_COPY, /* llvm.memcpy or memmove: to, from; `extra` bytes */
    GANG_FILL, /* llvm.memset: to, byte; `extra` bytes */
    GANG_BARRIER,
    GANG_WARP,
    GANG_CLOCK,
    GANG_QUERY,
    GANG_CALL,  /* a function of the module, lane by lane */
    GANG_CHECK, /* a question before an access: cpu/compile/check_insert.h */
    GANG_BRANCH,
    GANG_SWITCH,
    GANG_RETURN,
    GANG_UNREACHABLE,
};

struct gang_value {
    enum gang_op op;
    struct gang_type type;
    struct gang_type from; /* of the operands: casts, compares, stores, atomics */
    struct ir_slice word;
    struct ir_slice flags; /* words between the operation and the type, or "" */
    struct ir_slice text;  /* calls: callee; memory: ordering and scope */
    uint32_t *operands;
    uint32_t operand_count;
    int64_t *scales;   /* addresses: bytes an index, for operands 1.. */
    int64_t offset;    /* addresses: constant bytes */
    uint32_t *from_of; /* phis: the block of each operand */
    const char **ways; /* calls: how each argument is passed, "signext " or "" */
    uint64_t extra;
    uint32_t align;
    uint32_t block;  /* GANG_NONE: parameters and constants */
    uint32_t place;  /* in its block */
    uint32_t source; /* where it comes from: cpu/compile/ir_place.h, or 0 */
    bool is_volatile;
    bool float_compare;
    bool float_op; /* binary: of floats */
};

struct gang_block {
    struct ir_slice label;
    uint32_t *insts;
    uint32_t count;
    uint32_t *next; /* each successor once */
    uint32_t next_count;
    uint32_t *prev;
    uint32_t prev_count;
    struct ir_slice *cases; /* of a switch: constants, by `case_to` */
    uint32_t *case_to;      /* index into `next`; next[0] is the default */
    uint32_t case_count;
};

struct gang_function {
    struct ha_rewriter *rewriter;
    const struct ir_function *source;
    uint32_t number; /* of the function in the module */
    struct ir_arena *arena;
    struct gang_value *values;
    uint32_t value_count;
    uint32_t value_capacity;
    struct gang_block *blocks;
    uint32_t block_count;
    uint32_t *params;        /* values */
    uint8_t *used;           /* by value: something reads it */
    uint8_t *used_elsewhere; /* by value: a block other than its own reads it */
    bool warp;               /* has a warp call */
    bool barrier;
    bool grid; /* one of them is the grid's */
    bool asks; /* it may have questions: it is read for a proof, not for gangs */
    jmp_buf refused;
    uint32_t at;            /* what a refusal is about: as `source` of a value */
    struct ir_slice reason; /* why there is no gang form */
    bool unwanted;          /* it could have one, and another form is better */
};

/* Gives the kernel up: `format` says why, in words for `explain`. */
__attribute__((noreturn, format(printf, 2, 3))) void
gang_refuse(struct gang_function *function, const char *format, ...);

/* Reads a kernel; leaves by gang_refuse where it has something that a gang form cannot
 * be made of.  `function->refused` must be set. */
void gang_read(struct gang_function *function);

/* A new constant or instruction outside of all blocks. */
uint32_t gang_value_add(struct gang_function *function, struct gang_value value);

/* "i32", "float", "ptr". */
const char *gang_type_name(struct gang_type type);
bool gang_same_type(struct gang_type a, struct gang_type b);

/* Whether an instruction makes its value of operands alone, and can't be a call. */
bool gang_is_computed(enum gang_op op);

/* A constant integer's value; false for other values. */
bool gang_integer(const struct gang_function *function, uint32_t value,
                  int64_t *number);

#endif
