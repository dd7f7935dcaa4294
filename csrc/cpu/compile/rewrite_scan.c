/* SPDX-License-Identifier: MIT */
/* What each function of a module does, itself and through the functions it calls.
 *
 * In: the parsed module.  Out: the numbers of functions by name, one struct
 * ha_ir_function_info for each live function, and the layout of shared memory:
 *
 *     0                              common_end                shared_static
 *     | variables of functions that  | a kernel's own; each    | dynamic memory
 *     | are not inlined              | kernel begins here      |
 *
 * A function that was not inlined serves all kernels, so its variables lie at one
 * offset in all of them; only then does each kernel add its own.  All offsets are
 * multiples of SHARED_ALIGN, or of the larger alignment of a variable. */
#include "cpu/compile/rewrite_scan.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/compile/gang/gang_form.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_sites.h"
#include "cpu/compile/rewrite_state.h"

#define SHARED_ALIGN 64u

static bool
is_asm(const struct ir_inst *inst)
{
    return ir_find(inst->rest, " asm ", 0) != SIZE_MAX || ir_begins(inst->rest, "asm ");
}

/* `asm sideeffect "", "=r,0,~{memory}"`: without an instruction, and with operands that
 * mean the same on every target.  Programs hold values back from the optimiser so. */
static bool
is_empty_asm(struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    static const char *const known[] = {"=r", "=&r", "r", "=*m", "*m", "~{memory}"};
    size_t at = ir_find(inst->rest, "\"", 0);
    struct ir_slice text = ir_part(inst->rest, at, inst->rest.size);
    uint32_t count;

    if (at == SIZE_MAX || !ir_begins(text, "\"\", \"")) {
        return false;
    }
    text = ir_part(text, 5, text.size);
    const char *end = memchr(text.at, '"', text.size);
    text = ir_part(text, 0, end != NULL ? (size_t)(end - text.at) : 0);
    struct ir_slice *operands = ir_split(rewriter->arena, text, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool portable = operands[i].size == 1 && operands[i].at[0] >= '0' &&
                        operands[i].at[0] <= '9';
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
            portable |= ir_is(operands[i], known[k]);
        }
        if (!portable) {
            return false;
        }
    }
    return true;
}

static void
refuse(struct ha_rewriter *rewriter, const struct ir_function *function,
       const struct ir_inst *inst)
{
    if (is_asm(inst) && !is_empty_asm(rewriter, inst)) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s contains inline assembly", IR_ARGS(function->name));
    }
    if (ir_begins(inst->callee, "@llvm.nvvm") ||
        ir_begins(inst->callee, "@llvm.amdgcn")) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s uses %.*s, which the CPU device does not have",
                IR_ARGS(function->name), IR_ARGS(inst->callee));
    }
}

/* Whether a type of more than 64 bits is named; values have such names behind a %. */
static bool
has_wide_integer(struct ir_slice text)
{
    for (size_t at = 0; at + 1 < text.size; at++) {
        bool begins = at == 0 || text.at[at - 1] == ' ';
        if (begins && text.at[at] == 'i' && text.at[at + 1] >= '0' &&
            text.at[at + 1] <= '9' && strtoul(text.at + at + 1, NULL, 10) > 64) {
            return true;
        }
    }
    return false;
}

/* Operations that the host's compiler makes into calls of its own run-time library. */
static bool
needs_library(const struct ir_inst *inst)
{
    static const char *const divisions[] = {"sdiv", "udiv", "srem", "urem"};
    static const char *const conversions[] = {"sitofp", "uitofp", "fptosi", "fptoui"};

    if (!has_wide_integer(inst->rest)) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        if (ir_is(inst->op, divisions[i]) || ir_is(inst->op, conversions[i])) {
            return true;
        }
    }
    return false;
}

static void
scan_call(struct ha_rewriter *rewriter, const struct ir_function *function,
          const struct ir_inst *inst, struct ha_ir_function_info *info)
{
    uint32_t number;
    enum ha_known known = ha_known_of(inst);

    refuse(rewriter, function, inst);
    info->lane |= known < HA_KNOWN_COORDINATES || known == HA_KNOWN_SHARED_DYNAMIC;
    info->block |= known == HA_KNOWN_BLOCK;
    info->warp |= known == HA_KNOWN_WARP;
    info->pause |= known == HA_KNOWN_PAUSE;
    info->dynamic |= known == HA_KNOWN_SHARED_DYNAMIC;
    if (is_asm(inst)) {
        return;
    }
    if (inst->callee.size == 0 || inst->callee.at[0] == '%') {
        info->indirect = true;
    } else if (ir_map_get(&rewriter->functions, inst->callee, &number)) {
        info->calls[info->call_count++] = number;
    }
}

static void
scan_shared(struct ha_rewriter *rewriter, struct ir_slice line,
            struct ha_ir_function_info *info)
{
    uint32_t variable;

    for (size_t at = 0; (at = ir_find(line, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        if (ir_map_get(&rewriter->shared_names, name, &variable)) {
            info->shared[variable] = 1;
            info->lane = true;
            info->dynamic |= rewriter->shared[variable].dynamic;
        }
        at += name.size;
    }
}

static void
scan_function(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ir_function *function = &rewriter->module.functions[number];
    struct ha_ir_function_info *info = &rewriter->infos[number];
    size_t calls = 0;

    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            calls += ir_is(function->blocks[b].insts[i].op, "call");
        }
    }
    info->calls = ir_alloc(rewriter->arena, calls + 1, sizeof *info->calls);
    info->shared = ir_alloc(rewriter->arena, rewriter->shared_count + 1u, 1);
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            const struct ir_inst *inst = &function->blocks[b].insts[i];
            if (ir_is(inst->op, "call")) {
                scan_call(rewriter, function, inst, info);
            } else if (ir_is(inst->op, "invoke") || ir_is(inst->op, "callbr") ||
                       ir_is(inst->op, "indirectbr")) {
                ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                        "function %.*s uses '%.*s', which the CPU device does not have",
                        IR_ARGS(function->name), IR_ARGS(inst->op));
            }
            if (needs_library(inst)) {
                ir_fail(
                    rewriter->arena, HA_ERROR_UNSUPPORTED,
                    "function %.*s divides or converts integers of more than 64 bits",
                    IR_ARGS(function->name));
            }
            info->stack |= ir_is(inst->op, "alloca");
            info->ordered |= ir_is(inst->op, "atomicrmw") ||
                             ir_is(inst->op, "cmpxchg") || ir_is(inst->op, "fence") ||
                             ir_begins(inst->rest, "atomic ") ||
                             ir_begins(inst->rest, "volatile ");
            scan_shared(rewriter, inst->line, info);
        }
    }
}

static bool
merge(struct ha_rewriter *rewriter, struct ha_ir_function_info *info,
      const struct ha_ir_function_info *called)
{
    /* Flags only ever get set, so this ends. */
    bool before[6] = {info->block, info->warp,    info->lane,
                      info->pause, info->dynamic, info->indirect};
    bool changed = false;

    info->block |= called->block;
    info->warp |= called->warp;
    info->lane |= called->lane;
    info->pause |= called->pause;
    info->dynamic |= called->dynamic;
    info->indirect |= called->indirect;
    for (uint32_t i = 0; i < rewriter->shared_count; i++) {
        changed |= called->shared[i] && !info->shared[i];
        info->shared[i] |= called->shared[i];
    }
    return changed || before[0] != info->block || before[1] != info->warp ||
           before[2] != info->lane || before[3] != info->pause ||
           before[4] != info->dynamic || before[5] != info->indirect;
}

/* What a function does through others.  A call through a pointer may reach any function
 * that is not a kernel. */
static void
close_over_calls(struct ha_rewriter *rewriter)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t f = 0; f < rewriter->module.function_count; f++) {
            struct ha_ir_function_info *info = &rewriter->infos[f];
            if (!rewriter->live_functions[f]) {
                continue;
            }
            for (uint32_t i = 0; i < info->call_count; i++) {
                changed |= merge(rewriter, info, &rewriter->infos[info->calls[i]]);
            }
            for (size_t g = 0; info->indirect && g < rewriter->module.function_count;
                 g++) {
                if (!rewriter->module.functions[g].kernel &&
                    rewriter->live_functions[g]) {
                    changed |= merge(rewriter, info, &rewriter->infos[g]);
                }
            }
        }
    }
}

/* Variables of checked kernels do not touch, so that a pointer behind the end of one is
 * no pointer to the next. */
static uint64_t
lay_out(const struct ha_rewriter *rewriter, uint64_t *end,
        const struct ha_shared *shared)
{
    uint64_t align = shared->align > SHARED_ALIGN ? shared->align : SHARED_ALIGN;
    uint64_t offset = (*end + align - 1) / align * align;

    *end = offset + shared->size + (rewriter->check ? 1 : 0);
    return offset;
}

/* Variables of functions that are not inlined lie at one offset in all kernels; each
 * kernel's own variables follow, and its dynamic memory after them. */
static void
lay_out_shared(struct ha_rewriter *rewriter)
{
    uint64_t common_end = 0;

    for (uint32_t i = 0; i < rewriter->shared_count; i++) {
        struct ha_shared *shared = &rewriter->shared[i];
        if (shared->common && !shared->dynamic) {
            shared->offset = lay_out(rewriter, &common_end, shared);
        }
    }
    for (size_t f = 0; f < rewriter->module.function_count; f++) {
        struct ha_ir_function_info *info = &rewriter->infos[f];
        if (!rewriter->module.functions[f].kernel) {
            continue;
        }
        uint64_t end = common_end;
        info->offsets = ir_alloc(rewriter->arena, rewriter->shared_count + 1u,
                                 sizeof *info->offsets);
        for (uint32_t i = 0; i < rewriter->shared_count; i++) {
            const struct ha_shared *shared = &rewriter->shared[i];
            if (shared->common) {
                info->offsets[i] = shared->offset;
            } else if (info->shared[i] && !shared->dynamic) {
                info->offsets[i] = lay_out(rewriter, &end, shared);
            }
        }
        info->shared_static = (end + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
        if (info->shared_static > UINT32_MAX) {
            ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                    "kernel %.*s has %llu bytes of shared memory",
                    IR_ARGS(rewriter->module.functions[f].name),
                    (unsigned long long)info->shared_static);
        }
    }
}

static void
find_shared(struct ha_rewriter *rewriter)
{
    struct ir_module *module = &rewriter->module;

    rewriter->shared_names.arena = rewriter->arena;
    rewriter->shared =
        ir_alloc(rewriter->arena, module->global_count + 1, sizeof *rewriter->shared);
    for (size_t i = 0; i < module->global_count; i++) {
        const struct ir_global *global = &module->globals[i];
        if (global->space != 3) {
            continue;
        }
        struct ir_layout layout = ir_layout_of(&rewriter->types, global->type);
        struct ha_shared *shared = &rewriter->shared[rewriter->shared_count];
        size_t align = ir_find(global->line, ", align ", 0);
        *shared = (struct ha_shared){.name = global->name,
                                     .size = layout.size,
                                     .align = layout.align,
                                     .dynamic = global->external};
        if (align != SIZE_MAX) {
            uint64_t given = strtoull(global->line.at + align + 8, NULL, 10);
            shared->align = given > shared->align ? given : shared->align;
        }
        ir_map_set(&rewriter->shared_names, global->name, rewriter->shared_count++);
    }
}

/* "!n = !{ptr @kernel, !"maxntidx", i32 64}": the product over x, y, z. */
static void
read_bounds(struct ha_rewriter *rewriter)
{
    for (size_t i = 0; i < rewriter->module.metadata_count; i++) {
        struct ir_slice line = rewriter->module.metadata[i];
        size_t at = ir_find(line, "!{ptr @", 0);
        uint32_t number;
        if (at == SIZE_MAX ||
            !ir_map_get(&rewriter->functions, ir_token(line, at + 6), &number)) {
            continue;
        }
        for (size_t k = at; k + 12 < line.size; k++) {
            struct ir_slice rest = ir_part(line, k, line.size);
            if (!ir_begins(rest, "!\"maxntid")) {
                continue;
            }
            size_t value = ir_find(rest, ", i32 ", 0);
            if (value != SIZE_MAX) {
                uint32_t bound = (uint32_t)strtoul(rest.at + value + 6, NULL, 10);
                uint32_t *most = &rewriter->infos[number].max_threads;
                *most = *most == 0 ? bound : *most * bound;
            }
        }
    }
}

/* A function that is not inlined has its shared variables at one offset in all kernels.
 * The site of a warp call names the loops around it, which are those of one function:
 * so warp calls must be in kernels. */
static void
check_function(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];

    if (info->warp) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s has a warp call and cannot be inlined (it is recursive, "
                "called through a pointer, or noinline)",
                IR_ARGS(rewriter->module.functions[number].name));
    }
    for (uint32_t i = 0; i < rewriter->shared_count; i++) {
        rewriter->shared[i].common |= info->shared[i] != 0;
    }
}

void
ha_rewrite_scan(struct ha_rewriter *rewriter)
{
    struct ir_module *module = &rewriter->module;

    rewriter->functions.arena = rewriter->arena;
    for (size_t f = 0; f < module->function_count; f++) {
        ir_map_set(&rewriter->functions, module->functions[f].name, (uint32_t)f);
    }
    rewriter->infos =
        ir_alloc(rewriter->arena, module->function_count + 1, sizeof *rewriter->infos);
    rewriter->reports = ir_alloc(rewriter->arena, rewriter->module.function_count + 1,
                                 sizeof *rewriter->reports);
    rewriter->gangs = ir_alloc(rewriter->arena, rewriter->module.function_count + 1,
                               sizeof *rewriter->gangs);
    rewriter->fast =
        ir_alloc(rewriter->arena, module->function_count + 1, sizeof(bool));
    find_shared(rewriter);
    ha_rewrite_reach(rewriter);
    for (uint32_t f = 0; f < module->function_count; f++) {
        if (!rewriter->live_functions[f]) {
            continue;
        }
        scan_function(rewriter, f);
        if (module->functions[f].kernel) {
            ha_sites_find_steps(rewriter, f);
        } else {
            check_function(rewriter, f);
        }
    }
    close_over_calls(rewriter);
    lay_out_shared(rewriter);
    read_bounds(rewriter);
}
