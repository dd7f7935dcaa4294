/* SPDX-License-Identifier: MIT */
/* A kernel whose lanes run as gangs, as text of host IR.
 *
 * What lives from one block of the program to another lies in *slots*: variables on the
 * stack, which the back end turns into registers.  A slot that more than one run uses
 * lies in the *frame* of the gang, memory that the device gives; each run copies it to
 * the stack at its begin and back at its end. */
#ifndef HA_CPU_COMPILE_GANG_EMIT_H
#define HA_CPU_COMPILE_GANG_EMIT_H

#include "cpu/compile/gang/gang_plan.h"
#include "cpu/compile/rewrite_known.h"

enum gang_slot_kind {
    GANG_SLOT_VALUE, /* of a value: its own, or the first lane's */
    GANG_SLOT_CHECK, /* of a value: whether its check passed */
    GANG_SLOT_PHI,   /* of a phi: what the edges bring */
    GANG_SLOT_LEFT,  /* of a value and a loop: as lanes left the loop */
    GANG_SLOT_COME,  /* of a block: the lanes that edges bring */
    GANG_SLOT_MASK,  /* of a block: its mask */
    GANG_SLOT_FLAG,  /* of a block: whether the gang comes */
    GANG_SLOT_ALIVE, /* lanes that can still come to a barrier */
    GANG_SLOT_ARRAY, /* of an alloca: its memory */
    GANG_SLOT_LANES, /* of a value and an operand: a vector, lane by lane */
};

/* What a run does with a slot. */
enum gang_run_use {
    GANG_RUN_TOUCHES = 1,
    GANG_RUN_WRITES = 2, /* and so it has to leave it in the frame */
};

struct gang_slot {
    uint8_t kind; /* enum gang_slot_kind */
    bool mask;    /* a lane mask, or else ... */
    bool words;   /* a lane mask without mask registers: a `vector` of 0 and -1 */
    bool vector;  /* ... `type` for each lane, or once */
    bool block_wide;
    struct gang_type type;
    uint32_t value; /* value or block */
    uint32_t loop;
    bool framed;
    bool read;
    bool written;    /* something other than nothing */
    uint64_t offset; /* in the frame */
    uint64_t bytes;
    uint8_t *runs; /* by run: enum gang_run_use */
};

struct gang_emit {
    struct gang_function *function;
    struct gang_flow flow;
    struct gang_shapes shapes;
    struct gang_plan plan;
    uint32_t width;
    struct ir_out *out;

    struct gang_slot *slots;
    uint32_t slot_count;
    uint32_t slot_capacity;
    struct ir_map slot_names; /* "kind value loop" -> slot */
    uint32_t span;            /* blocks that go in step, at most; 0: each by itself */
    bool asking;              /* what is written asks before a span begins */
    bool whole;               /* rows are whole gangs */
    bool planning;            /* what is written is thrown away; slots are found */

    uint32_t names;         /* counter of temporary names */
    uint32_t run;           /* that is written */
    uint32_t block;         /* that is written */
    uint32_t time;          /* changes where remembered names stop to hold */
    uint32_t aside;         /* > 0: in code that what follows need not have passed */
    struct ir_slice *bases; /* by value: remembered names, and since when */
    uint32_t *base_time;
    struct ir_slice *vectors;
    uint32_t *vector_time;
    uint8_t *again;       /* by value: gang_again.h */
    struct ir_slice mask; /* of the block that is written */
    struct ir_slice label;

    uint64_t frame_bytes; /* of a gang */
    uint8_t *combined;    /* by value: atomics that are one for all lanes */
};

/* Makes a new "%t12". */
struct ir_slice gang_name(struct gang_emit *emit);
/* Makes a new label without its sigil. */
struct ir_slice gang_label(struct gang_emit *emit, const char *word);
__attribute__((format(printf, 2, 3))) void gang_line(struct gang_emit *emit,
                                                     const char *format, ...);
void gang_begin_label(struct gang_emit *emit, struct ir_slice label);

/* "<16 x float>" */
struct ir_slice gang_vector_type(struct gang_emit *emit, struct gang_type type);
/* "v16f32", as in the names of intrinsics. */
struct ir_slice gang_mangled(struct gang_emit *emit, struct gang_type type);
/* Notes that a function must be declared. */
void gang_declare(struct gang_emit *emit, struct ir_slice name, struct ir_slice line);

/* One number for all lanes, as a vector. */
struct ir_slice gang_splat(struct gang_emit *emit, struct gang_type type,
                           struct ir_slice scalar);
/* The constant vector 0, stride, 2 * stride, ... */
struct ir_slice gang_steps(struct gang_emit *emit, struct gang_type type,
                           int64_t stride);

/* A value as one number: the same for all lanes, or of the first lane. */
struct ir_slice gang_base(struct gang_emit *emit, uint32_t value);
/* A value as a vector, for each lane that is on. */
struct ir_slice gang_vector(struct gang_emit *emit, uint32_t value);
/* The shape of a value where the writing stands. */
struct gang_shape gang_shape_here(const struct gang_emit *emit, uint32_t value);
/* "%x" of whether the value's check passed, or "" where it has none. */
struct ir_slice gang_check(struct gang_emit *emit, uint32_t value);

/* Whether a value is one for all gangs, and kept once. */
bool gang_is_block_wide(const struct gang_emit *emit, uint32_t value);

/* Reads and writes slots. */
uint32_t gang_slot(struct gang_emit *emit, enum gang_slot_kind kind, uint32_t value,
                   uint32_t loop);
struct ir_slice gang_slot_read(struct gang_emit *emit, uint32_t slot);
void gang_slot_write(struct gang_emit *emit, uint32_t slot, struct ir_slice value);
/* The memory of an array of the gang, in the run that is written. */
struct ir_slice gang_slot_address(struct gang_emit *emit, uint32_t slot);

/* A mask as an integer of `width` bits. */
struct ir_slice gang_bits(struct gang_emit *emit, struct ir_slice mask);
/* The number of the first lane whose bit is set, or of the last one; i64. */
struct ir_slice gang_lane(struct gang_emit *emit, struct ir_slice bits, bool last);
/* Puts a vector into memory, where lanes are read and written one by one; `number` and
 * `part` tell such memories apart.  Not by elements of vectors: the back end may take
 * one before it asks whether there is a lane, and reads or writes anywhere then. */
struct ir_slice gang_lanes(struct gang_emit *emit, uint32_t number, uint32_t part,
                           struct gang_type type, struct ir_slice vector);
/* The address of one lane in such a memory; `lane` is an i64. */
struct ir_slice gang_lane_address(struct gang_emit *emit, struct ir_slice lanes,
                                  struct gang_type type, struct ir_slice lane);
/* One lane, read. */
struct ir_slice gang_lane_read(struct gang_emit *emit, struct ir_slice lanes,
                               struct gang_type type, struct ir_slice lane);
/* Whether a lane is on: an i1. */
struct ir_slice gang_any(struct gang_emit *emit, struct ir_slice mask);
/* mask and condition, where what the condition is for lanes that are off is nothing. */
struct ir_slice gang_masked(struct gang_emit *emit, struct ir_slice mask,
                            struct ir_slice condition);

/* Writes one instruction that is no phi and no end of a block. */
void gang_write_inst(struct gang_emit *emit, uint32_t value);
/* A value as one number, by its operands. */
struct ir_slice gang_write_base(struct gang_emit *emit, uint32_t value);
/* The vector of a value, by its operands. */
struct ir_slice gang_write_vector(struct gang_emit *emit, uint32_t value);
void gang_write_warp(struct gang_emit *emit, uint32_t value);
void gang_write_memory(struct gang_emit *emit, uint32_t value);
/* Whether the lanes of a warp make each access together (rewrite_lockstep.h). */
bool gang_is_in_step(const struct gang_function *function);
/* A copy of memory that they make so. */
void gang_write_copy(struct gang_emit *emit, uint32_t value);
/* What stands at a vector of pointers; lanes that are off in `mask` get `other`. */
struct ir_slice gang_gather(struct gang_emit *emit, struct gang_type type,
                            struct ir_slice pointers, uint32_t align,
                            struct ir_slice mask, struct ir_slice other);

/* Whether the value is a call of a function that libmvec has for many lanes at once. */
bool gang_is_math(const struct gang_emit *emit, const struct gang_value *value);
struct ir_slice gang_write_math(struct gang_emit *emit, const struct gang_value *value);

/* A value at the start of a block (gang_is_early), for the lane `thread_x`. */
struct ir_slice gang_write_early(struct gang_emit *emit, uint32_t number,
                                 const char *thread_x);

/* Remembers what a value is, and stores it where another block needs it. */
void gang_define(struct gang_emit *emit, uint32_t value, struct ir_slice name);

/* Writes the whole kernel: @k.block and @k.fast. */
void gang_write_kernel(struct gang_emit *emit, struct ir_out *out);

#endif
