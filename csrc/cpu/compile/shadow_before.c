/* SPDX-License-Identifier: MIT */
/* What LLVM's pass reads: which functions it is for, and what it is to do about
 * arguments, atomic accesses and questions of other checks. */
#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/shadow_insert.h"
#include "cpu/compile/ir_pass.h"

#define NOUNDEF " noundef"
#define DEPTH_MAX 8u  /* of calls and casts */
#define WARP_VALUE 2u /* the argument of __ha_warp that is passed on */

struct before {
    struct ir_arena *arena;
    struct ha_bytes *text;
    struct ir_types types;
    uint32_t metadata; /* number of an empty node of ours */
    struct ir_module module;
    struct ir_map functions; /* name -> number in the module */
    struct ir_map values;    /* of the function at hand: name -> number in `insts` */
    const struct ir_inst **insts;
    uint32_t function; /* number of the next one */
    uint32_t atomics;
};

/* ---- arguments ---- */

/* The text without the word, wherever it stands. */
static void
put_without(struct before *before, struct ir_slice text, const char *word)
{
    size_t from = 0, at;

    while ((at = ir_find(text, word, from)) != SIZE_MAX) {
        ha_buffer_append(before->text, text.at + from, at - from);
        from = at + strlen(word);
    }
    ha_buffer_append(before->text, text.at + from, text.size - from);
}

/* "call i64 @__ha_warp(i32 noundef 0, i64 noundef %m, i64 %v, ...)": all arguments
 * decide something but the value, and the answer may lack a value, too. */
static void
put_warp(struct before *before, struct ir_slice line)
{
    size_t at = ir_find(line, "@__ha_warp(", 0) + strlen("@__ha_warp(");
    size_t end = at;

    put_without(before, ir_part(line, 0, at), NOUNDEF);
    for (uint32_t i = 0; i < WARP_VALUE && end != SIZE_MAX; i++) {
        end = ir_find(line, ", ", end + 1);
    }
    size_t next = end == SIZE_MAX ? SIZE_MAX : ir_find(line, ", ", end + 1);
    if (next == SIZE_MAX) {
        ir_fail(before->arena, HA_ERROR_UNSUPPORTED, "a warp call that is none: %.*s",
                IR_ARGS(line));
    }
    ha_buffer_append(before->text, line.at + at, end - at);
    put_without(before, ir_part(line, end, next), NOUNDEF);
    ha_buffer_append(before->text, line.at + next, line.size - next);
}

/* What goes to a function of the program may lack a value: it may never look at it.
 * What goes to the device is used. */
static void
put_call(struct before *before, struct ir_slice line, struct ir_slice callee)
{
    if (ir_is(callee, "@__ha_check")) {
        ha_buffer_format(before->text, "%.*s, !nosanitize !%u\n", IR_ARGS(line),
                         before->metadata);
        return;
    }
    if (ir_is(callee, "@__ha_warp")) {
        put_warp(before, line);
    } else if (ir_begins(callee, "@__ha_") || ir_is(callee, "@malloc") ||
               ir_is(callee, "@free")) {
        ha_buffer_append(before->text, line.at, line.size);
    } else {
        put_without(before, line, NOUNDEF);
    }
    ha_buffer_text(before->text, "\n");
}

/* "load i8, ptr %p, align 1, !dbg !3, !range !4, !noundef !5": whether a truth value is
 * 0 or 1 is nothing that one can rely on where nobody wrote it. */
static void
put_load(struct before *before, struct ir_slice line)
{
    static const char *const words[] = {", !range !", ", !noundef !", ", !nonnull !"};
    size_t from = 0;

    while (from < line.size) {
        size_t first = line.size, end;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            size_t at = ir_find(line, words[i], from);
            if (at < first) {
                first = at;
            }
        }
        ha_buffer_append(before->text, line.at + from, first - from);
        for (end = first + 1; end < line.size && line.at[end] != ','; end++) {
        }
        from = end;
    }
    ha_buffer_text(before->text, "\n");
}

/* ---- what is computed ---- */

static bool computes(struct before *before, const struct ir_inst *inst,
                     struct ir_slice value, unsigned depth);

static void
read_values(struct before *before, const struct ir_function *function)
{
    uint32_t count = 0;

    for (uint32_t b = 0; b < function->block_count; b++) {
        count += function->blocks[b].count;
    }
    before->values = (struct ir_map){.arena = before->arena};
    before->insts = ir_alloc(before->arena, count + 1u, sizeof *before->insts);
    count = 0;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct ir_block *block = &function->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            if (block->insts[i].def.size > 0) {
                ir_map_set(&before->values, block->insts[i].def, count);
                before->insts[count++] = &block->insts[i];
            }
        }
    }
}

/* Whether a function of the program gives what it computes. */
static bool
function_computes(struct before *before, struct ir_slice name, unsigned depth)
{
    uint32_t number;

    if (depth == 0 || !ir_map_get(&before->functions, name, &number)) {
        return depth > 0 && !ir_begins(name, "@__ha_") && !ir_is(name, "@malloc");
    }
    const struct ir_function *function = &before->module.functions[number];
    struct ir_map values = before->values;
    const struct ir_inst **insts = before->insts;
    bool found = false;
    read_values(before, function);
    for (uint32_t b = 0; b < function->block_count && !found; b++) {
        const struct ir_block *block = &function->blocks[b];
        const struct ir_inst *last =
            block->count > 0 ? &block->insts[block->count - 1] : NULL;
        size_t at = last != NULL && ir_is(last->op, "ret")
                        ? ir_find(last->rest, " %", 0)
                        : SIZE_MAX;
        found = at != SIZE_MAX &&
                computes(before, NULL, ir_token(last->rest, at + 1), depth - 1);
    }
    before->values = values;
    before->insts = insts;
    return found;
}

/* Whether the value comes from an operation that is more than a copy; the logical ones
 * are, since they put fields of bits together. */
static bool
computes(struct before *before, const struct ir_inst *inst, struct ir_slice value,
         unsigned depth)
{
    static const char *const operations[] = {
        "add",  "sub",    "mul",    "udiv",   "sdiv",   "urem",    "srem",
        "fadd", "fsub",   "fmul",   "fdiv",   "frem",   "fneg",    "icmp",
        "fcmp", "sitofp", "uitofp", "fptosi", "fptoui", "fptrunc", "fpext"};
    static const char *const casts[] = {"zext", "sext", "trunc", "bitcast", "freeze"};
    uint32_t number;

    if (inst == NULL) {
        if (value.size == 0 || !ir_map_get(&before->values, value, &number)) {
            return false;
        }
        inst = before->insts[number];
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (ir_is(inst->op, operations[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
        size_t at = ir_is(inst->op, casts[i]) ? ir_find(inst->rest, " %", 0) : SIZE_MAX;
        if (at != SIZE_MAX && depth > 0) {
            return computes(before, NULL, ir_token(inst->rest, at + 1), depth - 1);
        }
    }
    return ir_is(inst->op, "call") && function_computes(before, inst->callee, depth);
}

/* "store float %v, ptr %p, align 4", and a mark behind it. */
static void
put_store(struct before *before, struct ir_slice line, const struct ir_inst *inst)
{
    uint32_t count;
    size_t words = ir_begins(inst->rest, "volatile ") ? strlen("volatile ") : 0;
    struct ir_slice rest = ir_part(inst->rest, words, inst->rest.size);
    struct ir_slice *parts = ir_split(before->arena, rest, &count);
    size_t at = count > 1 ? ir_find(parts[0], " %", 0) : SIZE_MAX;
    struct ir_address address;

    ha_buffer_format(before->text, "%.*s\n", IR_ARGS(line));
    if (at == SIZE_MAX || ir_begins(rest, "atomic ") ||
        !ir_address_read(parts[1], &address) || address.space != 0 ||
        !computes(before, NULL, ir_token(parts[0], at + 1), DEPTH_MAX)) {
        return;
    }
    uint64_t bytes =
        ir_access_bytes(&before->types, ir_type_at(before->arena, parts[0]));
    ha_buffer_format(before->text,
                     "  call void @__ha_shadow_computed(ptr %.*s, i64 %llu)%.*s, "
                     "!nosanitize !%u\n",
                     IR_ARGS(address.name), (unsigned long long)bytes,
                     IR_ARGS(ir_debug(inst->line)), before->metadata);
}

/* ---- atomic accesses ---- */

struct atomic {
    struct ir_slice def, head, address, rest, debug; /* "%r" "atomicrmw add" "ptr %p" */
    struct ir_slice type, value;                     /* that goes there */
    uint64_t bytes;
    uint32_t number;
    bool exchange; /* compare and exchange */
};

static enum ha_shadow_atomic
kind_of(struct ir_slice head)
{
    static const struct {
        const char *word;
        enum ha_shadow_atomic kind;
    } kinds[] = {
        {" xchg", HA_ATOMIC_VALUE}, {" and", HA_ATOMIC_BITS},
        {" or", HA_ATOMIC_BITS},    {" xor", HA_ATOMIC_BITS},
        {" add", HA_ATOMIC_LOWER},  {" sub", HA_ATOMIC_LOWER},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size = strlen(kinds[i].word);
        if (head.size > size &&
            memcmp(head.at + head.size - size, kinds[i].word, size) == 0) {
            return kinds[i].kind;
        }
    }
    return HA_ATOMIC_ALL;
}

/* The operands of "atomicrmw add ptr %p, i32 %v monotonic, align 4" and of "cmpxchg ptr
 * %p, i32 %c, i32 %v monotonic monotonic, align 4"; false for what has no more than 8
 * bytes. */
static bool
read_atomic(struct before *before, const struct ir_inst *inst, struct atomic *atomic)
{
    uint32_t count, last = ir_is(inst->op, "cmpxchg") ? 2 : 1;
    struct ir_slice *parts = ir_split(before->arena, inst->line, &count);
    size_t at = ir_find(parts[0], " ptr", 0);

    if (count <= last || at == SIZE_MAX ||
        ir_begins(ir_part(parts[0], at, parts[0].size), " ptr addrspace(")) {
        return false;
    }
    struct ir_slice valued = ir_trim(parts[last]);
    *atomic = (struct atomic){
        .def = inst->def,
        .address = ir_part(parts[0], at + 1, parts[0].size),
        .debug = ir_debug(inst->line),
        .type = ir_type_at(before->arena, valued),
        .number = before->atomics++,
        .exchange = last == 2,
    };
    size_t head = inst->def.size > 0 ? inst->def.size + 3 : 0;
    atomic->head = ir_part(parts[0], head, at);
    atomic->rest = ir_part(inst->line, at + 1, inst->line.size);
    atomic->bytes = ir_access_bytes(&before->types, atomic->type);
    struct ir_slice value = ir_trim(ir_part(valued, atomic->type.size, valued.size));
    bool plain = value.size > 0 && (value.at[0] < 'a' || value.at[0] > 'z');
    size_t end = ir_find(value, " ", 0);
    atomic->value =
        plain ? ir_part(value, 0, end < value.size ? end : value.size) : value;
    return plain && atomic->bytes > 0 && atomic->bytes <= 8;
}

/* `value` of `type` as an i64 by the name %ha.a<what>.<number>. */
static void
put_wide(struct before *before, const struct atomic *atomic)
{
    unsigned bits = (unsigned)atomic->bytes * 8;
    bool whole = atomic->type.at[0] == 'i', address = ir_begins(atomic->type, "ptr");
    struct ir_slice type = atomic->type, value = atomic->value;

    if (!whole && !address) {
        ha_buffer_format(before->text, "  %%ha.ab.%u = bitcast %.*s %.*s to i%u%.*s\n",
                         atomic->number, IR_ARGS(type), IR_ARGS(value), bits,
                         IR_ARGS(atomic->debug));
        type = ir_format(before->arena, "i%u", bits);
        value = ir_format(before->arena, "%%ha.ab.%u", atomic->number);
    }
    const char *cast = address ? "ptrtoint" : ir_is(type, "i64") ? "or" : "zext";
    ha_buffer_format(before->text, "  %%ha.av.%u = %s %.*s %.*s%s%.*s\n",
                     atomic->number, cast, IR_ARGS(type), IR_ARGS(value),
                     cast[0] == 'o' ? ", 0" : " to i64", IR_ARGS(atomic->debug));
}

/* `from`, which is the old value, with the shadow of %ha.az, as `to`. */
static void
put_joined(struct before *before, const struct atomic *atomic, struct ir_slice from,
           struct ir_slice to)
{
    struct ha_bytes *text = before->text;
    unsigned bits = (unsigned)atomic->bytes * 8, number = atomic->number;
    struct ir_slice type = atomic->type, debug = atomic->debug;
    bool whole = type.at[0] == 'i', address = ir_begins(type, "ptr");
    const char *out = address ? "ptrtoint" : "bitcast";
    const char *back = address ? "inttoptr" : "bitcast";

    ha_buffer_format(text, "  %%ha.ao.%u = %s %.*s %.*s to i%u%.*s\n", number,
                     whole ? "bitcast" : out, IR_ARGS(type), IR_ARGS(from), bits,
                     IR_ARGS(debug));
    ha_buffer_format(text, "  %%ha.at.%u = %s i64 %%ha.az.%u%s", number,
                     bits == 64 ? "or" : "trunc", number, bits == 64 ? ", 0" : " to i");
    if (bits < 64) {
        ha_buffer_format(text, "%u", bits);
    }
    ha_buffer_format(text, "%.*s\n", IR_ARGS(debug));
    ha_buffer_format(text, "  %%ha.ax.%u = xor i%u %%ha.ao.%u, %%ha.at.%u%.*s\n",
                     number, bits, number, number, IR_ARGS(debug));
    ha_buffer_format(text, "  %.*s = %s i%u %%ha.ax.%u to %.*s%.*s\n", IR_ARGS(to),
                     whole ? "bitcast" : back, bits, number, IR_ARGS(type),
                     IR_ARGS(debug));
}

/* "{ i32, i1 }" of the old value, and whether it was the expected one: both lack a
 * value where the memory does. */
static void
put_compared(struct before *before, const struct atomic *atomic)
{
    struct ha_bytes *text = before->text;
    unsigned n = atomic->number;
    struct ir_slice type = atomic->type, debug = atomic->debug;

    ha_buffer_format(text,
                     "  %%ha.a0.%u = extractvalue { %.*s, i1 } %%ha.ar.%u, 0%.*s\n", n,
                     IR_ARGS(type), n, IR_ARGS(debug));
    put_joined(before, atomic, ir_format(before->arena, "%%ha.a0.%u", n),
               ir_format(before->arena, "%%ha.a2.%u", n));
    ha_buffer_format(text, "  %%ha.a3.%u = icmp ne i64 %%ha.az.%u, 0%.*s\n", n, n,
                     IR_ARGS(debug));
    ha_buffer_format(text, "  %%ha.a4.%u = xor i1 %%ha.a1.%u, %%ha.a3.%u%.*s\n", n, n,
                     n, IR_ARGS(debug));
    ha_buffer_format(
        text,
        "  %%ha.a5.%u = insertvalue { %.*s, i1 } %%ha.ar.%u, %.*s %%ha.a2.%u, 0%.*s\n",
        n, IR_ARGS(type), n, IR_ARGS(type), n, IR_ARGS(debug));
    ha_buffer_format(
        text, "  %.*s = insertvalue { %.*s, i1 } %%ha.a5.%u, i1 %%ha.a4.%u, 1%.*s\n",
        IR_ARGS(atomic->def), IR_ARGS(type), n, n, IR_ARGS(debug));
}

/* The pass takes what an atomic access leaves and answers for written.  Calls before
 * and behind it say what it leaves, and give a zero with the shadow of the answer. */
static void
put_atomic(struct before *before, struct ir_slice line, const struct ir_inst *inst)
{
    struct ha_bytes *text = before->text;
    struct atomic atomic;

    if (!read_atomic(before, inst, &atomic)) {
        ha_buffer_format(text, "%.*s\n", IR_ARGS(line));
        return;
    }
    unsigned n = atomic.number;
    enum ha_shadow_atomic kind =
        atomic.exchange ? HA_ATOMIC_COMPARED : kind_of(atomic.head);
    put_wide(before, &atomic);
    ha_buffer_format(text,
                     "  %%ha.az.%u = call i64 @__ha_shadow_atomic(%.*s, i64 %llu, i64 "
                     "%u, i64 %%ha.av.%u)%.*s\n",
                     n, IR_ARGS(atomic.address), (unsigned long long)atomic.bytes,
                     (unsigned)kind, n, IR_ARGS(atomic.debug));
    ha_buffer_format(text, "  %%ha.ar.%u = %.*s %.*s\n", n, IR_ARGS(atomic.head),
                     IR_ARGS(atomic.rest));
    if (atomic.exchange) {
        ha_buffer_format(text,
                         "  %%ha.a1.%u = extractvalue { %.*s, i1 } %%ha.ar.%u, 1%.*s\n"
                         "  %%ha.a6.%u = zext i1 %%ha.a1.%u to i64%.*s\n",
                         n, IR_ARGS(atomic.type), n, IR_ARGS(atomic.debug), n, n,
                         IR_ARGS(atomic.debug));
    }
    ha_buffer_format(text, "  call void @__ha_shadow_atomic_done(%.*s, i64 %llu, i64 ",
                     IR_ARGS(atomic.address), (unsigned long long)atomic.bytes);
    ha_buffer_format(text, atomic.exchange ? "%%ha.a6.%u" : "1", n);
    ha_buffer_format(text, ")%.*s\n", IR_ARGS(atomic.debug));
    if (atomic.exchange) {
        put_compared(before, &atomic);
    } else if (atomic.def.size > 0) {
        put_joined(before, &atomic, ir_format(before->arena, "%%ha.ar.%u", n),
                   atomic.def);
    }
}

/* ---- the text ---- */

/* What is inlined before the pass is instrumented as often as it is called, and most of
 * that is undone again, later and slowly. */
static void
put_attributes(struct before *before, struct ir_slice line)
{
    size_t open = ir_find(line, " = { ", 0) + 5;
    size_t at = ir_find(line, " alwaysinline ", 0);

    ha_buffer_format(before->text, "%.*ssanitize_memory %s", (int)open, line.at,
                     at != SIZE_MAX ? HA_SHADOW_INLINE " " : "");
    put_without(before, ir_part(line, open, line.size), "alwaysinline ");
    ha_buffer_text(before->text, "\n");
}

static void
put_line(struct before *before, struct ir_slice line, bool inside)
{
    struct ir_inst inst = {0};

    if (inside && line.size > 2 && line.at[0] == ' ') {
        inst = ir_inst_of(ir_trim(line));
    }
    if (ir_begins(line, "define ") && ir_find(line, " ptx_kernel ", 0) == SIZE_MAX) {
        put_without(before, line, NOUNDEF);
        ha_buffer_text(before->text, "\n");
    } else if (ir_begins(line, "declare ") && ir_find(line, "@", 0) != SIZE_MAX) {
        struct ir_slice name = ir_token(line, ir_find(line, "@", 0));
        if (ir_is(name, "@__ha_check")) {
            ha_buffer_format(before->text, "%.*s\n", IR_ARGS(line));
        } else {
            put_call(before, line, name);
        }
    } else if (ir_begins(line, "attributes #") &&
               ir_find(line, " = { ", 0) != SIZE_MAX) {
        put_attributes(before, line);
    } else if (ir_is(inst.op, "call") || ir_is(inst.op, "invoke")) {
        put_call(before, line, inst.callee);
    } else if (ir_is(inst.op, "load")) {
        put_load(before, line);
    } else if (ir_is(inst.op, "store")) {
        put_store(before, line, &inst);
    } else if (ir_is(inst.op, "atomicrmw") || ir_is(inst.op, "cmpxchg")) {
        put_atomic(before, line, &inst);
    } else {
        ha_buffer_format(before->text, "%.*s\n", IR_ARGS(line));
    }
}

/* A number for a node that the text has none of. */
static uint32_t
free_metadata(struct ir_slice text)
{
    uint32_t most = 0;

    for (const char *at = text.at;
         (at = memmem(at, text.size - (size_t)(at - text.at), "\n!", 2)) != NULL;
         at++) {
        if (at[2] >= '0' && at[2] <= '9') {
            uint32_t number = (uint32_t)strtoul(at + 2, NULL, 10);
            most = number >= most ? number + 1 : most;
        }
    }
    return most;
}

static void
put_all(struct before *before, struct ir_slice text)
{
    bool inside = false;

    ir_parse(before->arena, text, &before->module);
    ir_types_read(&before->types, &before->module);
    before->functions.arena = before->arena;
    for (size_t f = 0; f < before->module.function_count; f++) {
        ir_map_set(&before->functions, before->module.functions[f].name, (uint32_t)f);
    }
    before->metadata = free_metadata(text);
    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.at + at, '\n', text.size - at);
        size_t size = end == NULL ? text.size - at : (size_t)(end - text.at) - at;
        struct ir_slice line = ir_part(text, at, at + size);
        ir_poll(before->arena);
        if (ir_begins(line, "define ")) {
            read_values(before, &before->module.functions[before->function++]);
            inside = true;
        } else if (ir_begins(line, "}")) {
            inside = false;
        }
        put_line(before, line, inside);
        at += size + 1;
    }
    ha_buffer_format(before->text,
                     "\ndeclare i64 @__ha_shadow_atomic(ptr, i64, i64, i64) nounwind\n"
                     "declare void @__ha_shadow_atomic_done(ptr, i64, i64) nounwind\n"
                     "declare void @__ha_shadow_computed(ptr, i64) nounwind\n"
                     "!%u = !{}\n",
                     before->metadata);
}

static void
run(struct ir_arena *arena, const struct ha_rewrite_request *request,
    struct ha_bytes *text)
{
    struct before before = {.arena = arena, .text = text};

    put_all(&before, (struct ir_slice){request->ir, request->ir_size});
}

enum ha_status
ha_shadow_before(const struct ha_rewrite_request *request, struct ha_bytes *text)
{
    return ir_pass_run(run, "shadow", request, text);
}
