/* SPDX-License-Identifier: MIT */
/* The program's word is an annotation, as the front end writes it:
 *
 *     @.str = private unnamed_addr constant [18 x i8] c"hipadapt_lockstep\00", ...
 *     @llvm.global.annotations = appending global [1 x { ptr, ... }]
 *         [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr @.str, ptr @.str1, i32 1, ... }]
 *
 * Other lanes can see all memory but what an alloca or a copied record gives.  Accesses
 * of that stay as they are. */
#include "cpu/compile/rewrite_lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_exchange.h"
#include "cpu/compile/ir_flow.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_sites.h"
#include "cpu/compile/rewrite_state.h"

#define DEPTH_MAX 32u
#define COPY_BYTES_MAX 128u

/* ---- accesses ---- */

static bool
is_memory_call(const struct ir_inst *inst, const char *prefix)
{
    return ir_is(inst->op, "call") && ir_begins(inst->callee, prefix);
}

bool
ha_lockstep_is_copy(const struct ir_inst *inst)
{
    return is_memory_call(inst, "@llvm.memcpy.") ||
           is_memory_call(inst, "@llvm.memmove.");
}

static bool
is_fill(const struct ir_inst *inst)
{
    return is_memory_call(inst, "@llvm.memset.");
}

static bool
writes(const struct ir_inst *inst)
{
    return ir_is(inst->op, "store") || ir_is(inst->op, "atomicrmw") ||
           ir_is(inst->op, "cmpxchg") || ha_lockstep_is_copy(inst) || is_fill(inst);
}

static bool
accesses(const struct ir_inst *inst)
{
    return ir_is(inst->op, "load") || writes(inst);
}

static bool
is_own_record(const struct ir_function *function, struct ir_slice name)
{
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (ir_same(function->params[i].name, name)) {
            return function->params[i].byval.size > 0;
        }
    }
    return false;
}

/* Whether the pointer in a text such as "ptr align 4 %p" is the lane's own. */
static bool
is_own(const struct ir_function *function, const struct ir_values *values,
       struct ir_slice text)
{
    uint32_t number;

    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        size_t pointer = ir_find(text, "ptr ", 0);
        size_t at = pointer == SIZE_MAX ? SIZE_MAX : ir_find(text, "%", pointer);
        size_t end = pointer == SIZE_MAX ? SIZE_MAX : ir_find(text, ",", pointer);
        if (at == SIZE_MAX || end < at || ir_find(text, "@", 0) < at) {
            return false;
        }
        struct ir_slice name = ir_token(text, at);
        const struct ir_inst *made = ir_values_find(values, name, &number);
        if (made == NULL) {
            return is_own_record(function, name);
        }
        if (ir_is(made->op, "alloca")) {
            return true;
        }
        if (!ir_is(made->op, "getelementptr") && !ir_is(made->op, "addrspacecast")) {
            return false;
        }
        text = made->rest;
    }
    return false;
}

static bool
can_be_seen(struct ha_rewriter *rewriter, const struct ir_function *function,
            const struct ir_values *values, const struct ir_inst *inst)
{
    struct ir_slice text = inst->rest;
    uint32_t count;

    if (ha_lockstep_is_copy(inst) || is_fill(inst)) {
        struct ir_slice *given = ir_arguments(rewriter->arena, inst->line, &count);
        return count < 2 || !is_own(function, values, given[0]) ||
               (!is_fill(inst) && !is_own(function, values, given[1]));
    }
    if (ir_is(inst->op, "store")) {
        size_t at = ir_find(text, ", ptr", 0);
        text = at == SIZE_MAX ? text : ir_part(text, at + 2, text.size);
    }
    return !is_own(function, values, text);
}

/* Without the attributes of an argument: "ptr align 4 %p" is "ptr %p". */
static struct ir_slice
bare(struct ir_arena *arena, struct ir_slice text)
{
    size_t at = ir_find(text, "getelementptr", 0);

    text = ir_trim(text);
    if (at == SIZE_MAX) {
        at = text.size;
        while (at > 0 && text.at[at - 1] != ' ') {
            at--;
        }
    }
    return ir_format(arena, "ptr %.*s", IR_ARGS(ir_part(text, at, text.size)));
}

uint64_t
ha_lockstep_copy(struct ha_rewriter *rewriter, struct ir_slice line,
                 struct ir_slice *to, struct ir_slice *from)
{
    uint32_t count;
    struct ir_slice *given = ir_arguments(rewriter->arena, line, &count);

    if (count < 3) {
        return 0;
    }
    struct ir_slice size = ir_trim(given[2]);
    size_t digits = size.size;
    while (digits > 0 && size.at[digits - 1] >= '0' && size.at[digits - 1] <= '9') {
        digits--;
    }
    if (digits == 0 || digits == size.size || size.at[digits - 1] != ' ') {
        return 0;
    }
    *to = bare(rewriter->arena, given[0]);
    *from = bare(rewriter->arena, given[1]);
    return strtoull(size.at + digits, NULL, 10);
}

/* ---- what cannot be in step ---- */

static bool
uses_seen_memory(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ir_function *function = &rewriter->module.functions[number];
    struct ir_values values;

    ir_values_read(rewriter->arena, function, &values);
    for (uint32_t i = 0; i < values.count; i++) {
        if (accesses(values.insts[i]) &&
            can_be_seen(rewriter, function, &values, values.insts[i])) {
            return true;
        }
    }
    return false;
}

/* A function that a kernel calls, directly or not, and that uses memory which others
 * can see; UINT32_MAX where there is none. */
static uint32_t
called_user(struct ha_rewriter *rewriter, uint32_t number, uint8_t *seen)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];

    for (uint32_t i = 0; i < info->call_count; i++) {
        uint32_t called = info->calls[i];
        if (seen[called]) {
            continue;
        }
        seen[called] = 1;
        if (uses_seen_memory(rewriter, called)) {
            return called;
        }
        uint32_t deeper = called_user(rewriter, called, seen);
        if (deeper != UINT32_MAX) {
            return deeper;
        }
    }
    return UINT32_MAX;
}

struct look {
    struct ha_rewriter *rewriter;
    uint32_t number;
    struct ir_values values;
    struct ir_slice why; /* it cannot be */
    bool writes;         /* memory that others can see */
};

static void
look_at_loops(struct look *look)
{
    struct ir_flow flow;

    ir_flow_read(look->rewriter->arena, &look->rewriter->module.functions[look->number],
                 &flow);
    if (flow.tangled) {
        look->why = ir_slice_of("it has a goto into a loop");
    }
    for (uint32_t i = 0; i < flow.loop_count; i++) {
        if (flow.loops[i].depth > HA_LOOP_DEPTH_MAX) {
            look->why = ir_format(look->rewriter->arena,
                                  "more than %u loops in another", HA_LOOP_DEPTH_MAX);
        }
    }
}

static void
look_at_accesses(struct look *look)
{
    struct ha_rewriter *rewriter = look->rewriter;
    const struct ir_function *function = &rewriter->module.functions[look->number];
    struct ir_slice to;
    struct ir_slice from;

    for (uint32_t i = 0; i < look->values.count; i++) {
        const struct ir_inst *inst = look->values.insts[i];
        if (!accesses(inst) || !can_be_seen(rewriter, function, &look->values, inst)) {
            continue;
        }
        look->writes |= writes(inst);
        if (!ha_lockstep_is_copy(inst)) {
            continue;
        }
        uint64_t bytes = ha_lockstep_copy(rewriter, inst->line, &to, &from);
        if (bytes == 0 || bytes > COPY_BYTES_MAX) {
            look->why = ir_format(rewriter->arena,
                                  "a copy of more than %u bytes, or of a number known "
                                  "at run time",
                                  COPY_BYTES_MAX);
        }
    }
}

static void
look_at(struct ha_rewriter *rewriter, uint32_t number, struct look *look)
{
    uint8_t *seen = ir_alloc(rewriter->arena, rewriter->module.function_count + 1, 1);

    *look = (struct look){.rewriter = rewriter, .number = number};
    ir_values_read(rewriter->arena, &rewriter->module.functions[number], &look->values);
    look_at_loops(look);
    look_at_accesses(look);
    uint32_t user = called_user(rewriter, number, seen);
    if (user != UINT32_MAX) {
        look->why = ir_format(rewriter->arena,
                              "function %.*s, which is not inlined, uses memory",
                              IR_ARGS(rewriter->module.functions[user].name));
    } else if (rewriter->infos[number].indirect) {
        look->why = ir_slice_of("it calls functions by their addresses");
    }
}

/* ---- the program's word ---- */

static bool
says_lockstep(const struct ha_rewriter *rewriter, struct ir_slice name)
{
    static const char word[] = "c\"hipadapt_lockstep\\00\"";

    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        if (ir_same(global->name, name)) {
            return memmem(global->line.at, global->line.size, word, sizeof word - 1) !=
                   NULL;
        }
    }
    return false;
}

static void
read_annotations(struct ha_rewriter *rewriter, uint8_t *wanted)
{
    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        struct ir_slice line = global->line;
        uint32_t number;
        if (!ir_is(global->name, "@llvm.global.annotations")) {
            continue;
        }
        /* An entry names what it is said about, the words, and the file. */
        for (size_t at = global->name.size;
             (at = ir_find(line, "{ ptr @", at)) != SIZE_MAX;) {
            struct ir_slice name = ir_token(line, at + 6);
            size_t words = ir_find(line, "@", at + 6 + name.size);
            at += 6 + name.size;
            if (words != SIZE_MAX && ir_map_get(&rewriter->functions, name, &number) &&
                says_lockstep(rewriter, ir_token(line, words))) {
                wanted[number] = 1;
            }
        }
    }
}

/* ---- the whole ---- */

static void
mark(struct ha_rewriter *rewriter, uint32_t number, const struct ir_values *values)
{
    const struct ir_function *function = &rewriter->module.functions[number];

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            struct ir_inst *inst = &function->blocks[b].insts[i];
            if (accesses(inst) && can_be_seen(rewriter, function, values, inst)) {
                inst->step = true;
            }
        }
    }
    rewriter->infos[number].warp = true;
}

void
ha_lockstep_choose(struct ha_rewriter *rewriter)
{
    uint8_t *wanted = ir_alloc(rewriter->arena, rewriter->module.function_count + 1, 1);

    read_annotations(rewriter, wanted);
    for (uint32_t f = 0; f < rewriter->module.function_count; f++) {
        struct ha_ir_function_info *info = &rewriter->infos[f];
        struct look look;
        if (!rewriter->live_functions[f] || !rewriter->module.functions[f].kernel) {
            continue;
        }
        bool asked = rewriter->lockstep || wanted[f];
        if (!asked && !ha_gang_exchanges(rewriter, f, &info->lockstep_why)) {
            continue;
        }
        look_at(rewriter, f, &look);
        if (asked && look.why.size > 0) {
            ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                    "the lanes of kernel %.*s cannot run in step, as %s asks: %.*s",
                    IR_ARGS(rewriter->module.functions[f].name),
                    wanted[f] ? "HIPADAPT_LOCKSTEP" : "HIPADAPT_CPU_LOCKSTEP=1",
                    IR_ARGS(look.why));
        }
        if (look.why.size > 0 || (!asked && ha_sites_polls(rewriter, f))) {
            info->lockstep_why = ir_format(
                rewriter->arena, "%.*s, but lanes cannot run in step: %.*s",
                IR_ARGS(info->lockstep_why),
                IR_ARGS(look.why.size > 0 ? look.why
                                          : ir_slice_of("a loop waits for memory")));
            continue;
        }
        if (look.writes) {
            info->lockstep = (uint8_t)(asked ? HA_LOCKSTEP_WANTED : HA_LOCKSTEP_SEEN);
            mark(rewriter, f, &look.values);
            if (!asked) {
                ha_log(3, "kernel %.*s: lanes run in step: %.*s",
                       IR_ARGS(rewriter->module.functions[f].name),
                       IR_ARGS(info->lockstep_why));
            }
        }
    }
}
