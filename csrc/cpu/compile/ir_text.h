/* SPDX-License-Identifier: MIT */
/* LLVM text IR, read just deep enough to be rewritten: lines, names, blocks, calls.
 *
 * Vocabulary: a *slice* is a borrowed piece of the input or of the arena; an *arena*
 * owns everything that one rewrite allocates and is freed at once.  A *line* is one
 * logical instruction (a switch is joined into one line).  Names keep their sigil and
 * quotes, so that they can be compared and printed as they are.
 *
 * How `if (i < n) a[i] = 0.5f * a[i];` lies in the arena (the kernel `halve` of
 * cpu/compile/README.md); slices point into the text that was parsed, and
 * labels into the arena:
 *
 *     ir_module
 *       functions[0]    name "@halve", kernel, params "%a" "%n"
 *         blocks[0]     label "%entry"    next 1 2   prev -
 *           insts[0]      def "%call.i"   op "call"  callee "@__ha_block_x"
 *           ...
 *           insts[6]      def ""          op "br"    rest "i1 %cmp, label %if.then,
 * ..." blocks[1]     label "%if.then"  next 2     prev 0 blocks[2]     label "%if.end"
 * next -     prev 0 1 declares[0..3)  "declare i32 @__ha_block_x() ..." and so on,
 * whole lines
 *
 *     %call.i = tail call noundef i32 @__ha_block_x() #2       one ir_inst: its line
 *     |def  |        |op| |rest                        |
 *                                     |callee      |
 *
 * Errors leave through ir_fail, which jumps to the arena's `escape`: a rewrite holds
 * nothing but its arena, which is released by the function that called setjmp.  No
 * locks, no global state. */
#ifndef HA_CPU_COMPILE_IR_TEXT_H
#define HA_CPU_COMPILE_IR_TEXT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct ir_slice {
    const char *at;
    size_t size;
};

struct ir_chunk;

struct ir_arena {
    struct ir_chunk *chunks; /* owned */
    jmp_buf escape;
    enum ha_status status; /* why ir_fail was called */
    /* Asked from time to time, may be NULL: not HA_OK, with a text, ends the rewrite.
     */
    enum ha_status (*stop)(void *context);
    void *stop_context; /* borrowed */
    uint32_t polls;
};

/* A growing text in the arena. */
struct ir_out {
    struct ir_arena *arena;
    char *text; /* NUL terminated; NULL while nothing was written */
    size_t size;
    size_t capacity;
};

/* Name -> number, open addressing; lives in the arena. */
struct ir_map {
    struct ir_arena *arena;
    struct ir_map_entry *entries;
    size_t capacity;
    size_t count;
};

struct ir_inst {
    struct ir_slice line;   /* without indentation */
    struct ir_slice def;    /* "%x", or empty */
    struct ir_slice op;     /* "add", "call", ... */
    struct ir_slice rest;   /* what follows the op word */
    struct ir_slice callee; /* "@f" of a direct call, "%f" of an indirect one */
    uint32_t site;          /* of a warp call; set by users */
    uint32_t place;         /* node of cpu/compile/ir_place.h, or 0 */
    bool step;              /* lanes do this in step; set by users */
};

struct ir_block {
    struct ir_slice label; /* "%name" */
    struct ir_inst *insts; /* the last one is the terminator */
    uint32_t count;
    uint32_t *next; /* numbers of successor blocks, an entry an edge */
    uint32_t next_count;
    uint32_t *prev; /* the same for predecessors */
    uint32_t prev_count;
};

struct ir_param {
    struct ir_slice type;
    struct ir_slice name;
    struct ir_slice byval; /* type of a record passed by value, or empty */
    uint32_t align;        /* of the record; 0 where it is not given */
    bool constant;         /* the function never writes through it */
    bool noalias;
};

struct ir_function {
    struct ir_slice header; /* the define line */
    struct ir_slice name;   /* "@f" */
    uint32_t place;         /* as that of an instruction */
    bool kernel;
    struct ir_param *params;
    uint32_t param_count;
    struct ir_block *blocks;
    uint32_t block_count;
};

struct ir_global {
    struct ir_slice line;
    struct ir_slice name;
    struct ir_slice type;
    uint32_t space; /* address space */
    bool external;
};

struct ir_module {
    struct ir_arena *arena;
    struct ir_slice *types; /* "%T = type ..." lines */
    size_t type_count;
    struct ir_global *globals;
    size_t global_count;
    struct ir_function *functions;
    size_t function_count;
    struct ir_slice *declares;
    size_t declare_count;
    struct ir_slice *attributes; /* "attributes #n = { ... }" */
    size_t attribute_count;
    struct ir_slice *metadata; /* "!n = ..." and "!name = ..." */
    size_t metadata_count;
    struct ir_slice *places; /* by number: nodes of cpu/compile/ir_place.h, or empty */
    uint32_t place_count;
};

/* Formats the reason for ha_error_text and jumps to arena->escape. */
__attribute__((noreturn, format(printf, 3, 4))) void
ir_fail(struct ir_arena *arena, enum ha_status status, const char *format, ...);

/* Whether to go on: fails by ir_fail where not.  Cheap; belongs into each loop that
 * grows with the input. */
void ir_poll(struct ir_arena *arena);

/* Zeroed memory that lives as long as the arena; fails by ir_fail.  Polls. */
void *ir_alloc(struct ir_arena *arena, size_t count, size_t size);
void ir_arena_release(struct ir_arena *arena);
/* A formatted slice in the arena, NUL terminated behind its end. */
__attribute__((format(printf, 2, 3))) struct ir_slice
ir_format(struct ir_arena *arena, const char *format, ...);

/* For printf's "%.*s". */
#define IR_ARGS(slice) (int)(slice).size, (slice).at
struct ir_slice ir_slice_of(const char *text);
bool ir_same(struct ir_slice a, struct ir_slice b);
bool ir_is(struct ir_slice slice, const char *text);
bool ir_begins(struct ir_slice slice, const char *prefix);
/* Offset of `text` outside of quotes at or after `from`, or SIZE_MAX; `from` itself
 * must lie outside of quotes. */
size_t ir_find(struct ir_slice slice, const char *text, size_t from);
/* The token that begins at `at`: a name with its sigil (quotes included), or a word. */
struct ir_slice ir_token(struct ir_slice slice, size_t at);
/* Offset just behind the bracket that closes the one at `open`. */
size_t ir_close(struct ir_arena *arena, struct ir_slice slice, size_t open);
/* Splits at commas that stand outside of brackets and quotes. */
struct ir_slice *ir_split(struct ir_arena *arena, struct ir_slice slice,
                          uint32_t *count);
struct ir_slice ir_trim(struct ir_slice slice);
struct ir_slice ir_part(struct ir_slice slice, size_t from, size_t to);
/* The line at `at`, with its newline; `at` moves behind it.  False at the end. */
bool ir_next_line(struct ir_slice text, size_t *at, struct ir_slice *line);

void ir_put(struct ir_out *out, struct ir_slice text);
__attribute__((format(printf, 2, 3))) void ir_print(struct ir_out *out,
                                                    const char *format, ...);

void ir_map_set(struct ir_map *map, struct ir_slice name, uint32_t value);
/* False if the name is not there. */
bool ir_map_get(const struct ir_map *map, struct ir_slice name, uint32_t *value);

/* The text with one name for each function and variable, in the arena; or `text` itself
 * where there are no aliases. */
struct ir_slice ir_without_aliases(struct ir_arena *arena, struct ir_slice text);

/* The same with no function that takes variable arguments. */
struct ir_slice ir_without_variadics(struct ir_arena *arena, struct ir_slice text);

/* The parts of one line, which it borrows. */
struct ir_inst ir_inst_of(struct ir_slice line);

/* Reads a module; slices borrow from `text`. */
void ir_parse(struct ir_arena *arena, struct ir_slice text, struct ir_module *module);

#endif
