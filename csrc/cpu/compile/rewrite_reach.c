/* SPDX-License-Identifier: MIT */
/* A walk over names.  From `a[i] *= weights[limit & 3]` in a kernel:
 *
 *     @scale (a kernel: a root)  ->  @limit, @weights  ->  what their initialisers name
 *                                ->  @__ha_thread_x    ->  `used`: a declaration
 *
 * Each function and variable is looked at once; lists of those still to be looked at
 * take the place of recursion, because programs may nest calls as deep as they like. */
#include "cpu/compile/rewrite_reach.h"

#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/toolchain_flags.h"

struct walk {
    struct ha_rewriter *rewriter;
    struct ir_map globals; /* name -> number */
    uint32_t *functions;   /* found, not yet looked at */
    uint32_t function_count;
    uint32_t *variables;
    uint32_t variable_count;
};

bool
ha_is_variable(const struct ir_global *global)
{
    return (global->space == 1 || global->space == 4) && !global->external &&
           ir_find(global->name, HA_REWRITE_NAME_PREFIX, 0) == SIZE_MAX;
}

/* Intrinsics that change how the processor rounds or flushes; HIP has no words for
 * them, IR that is linked may use them. */
static bool
changes_control(struct ir_slice name)
{
    static const char *const known[] = {"@llvm.set.rounding", "@llvm.set.fp",
                                        "@llvm.reset.fp", "@llvm.x86.sse.ldmxcsr",
                                        "@llvm.aarch64.set.fpcr"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (ir_begins(name, known[i])) {
            return true;
        }
    }
    return false;
}

static void
reach_function(struct walk *walk, uint32_t number)
{
    if (!walk->rewriter->live_functions[number]) {
        walk->rewriter->live_functions[number] = 1;
        walk->functions[walk->function_count++] = number;
    }
}

static void
reach_variable(struct walk *walk, uint32_t number)
{
    if (!walk->rewriter->live_globals[number]) {
        walk->rewriter->live_globals[number] = 1;
        walk->variables[walk->variable_count++] = number;
    }
}

/* Follows every global name of a text. */
static void
reach_text(struct walk *walk, struct ir_slice text)
{
    uint32_t number;

    for (size_t at = 0; (at = ir_find(text, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(text, at);
        if (ir_map_get(&walk->rewriter->functions, name, &number)) {
            reach_function(walk, number);
        } else if (ir_map_get(&walk->globals, name, &number)) {
            reach_variable(walk, number);
        } else {
            ir_map_set(&walk->rewriter->used, name, 1);
            walk->rewriter->control |= changes_control(name);
        }
        at += name.size;
    }
}

static void
reach_roots(struct walk *walk)
{
    const struct ir_module *module = &walk->rewriter->module;

    for (uint32_t f = 0; f < module->function_count; f++) {
        if (module->functions[f].kernel) {
            reach_function(walk, f);
        }
    }
    for (uint32_t g = 0; g < module->global_count; g++) {
        ir_map_set(&walk->globals, module->globals[g].name, g);
        if (ha_is_variable(&module->globals[g])) {
            reach_variable(walk, g);
        }
    }
}

void
ha_rewrite_reach(struct ha_rewriter *rewriter)
{
    const struct ir_module *module = &rewriter->module;
    struct walk walk = {.rewriter = rewriter, .globals = {.arena = rewriter->arena}};

    rewriter->used.arena = rewriter->arena;
    rewriter->live_functions = ir_alloc(rewriter->arena, module->function_count + 1, 1);
    rewriter->live_globals = ir_alloc(rewriter->arena, module->global_count + 1, 1);
    walk.functions =
        ir_alloc(rewriter->arena, module->function_count + 1, sizeof *walk.functions);
    walk.variables =
        ir_alloc(rewriter->arena, module->global_count + 1, sizeof *walk.variables);
    reach_roots(&walk);
    while (walk.function_count > 0 || walk.variable_count > 0) {
        if (walk.variable_count > 0) {
            const struct ir_global *global =
                &module->globals[walk.variables[--walk.variable_count]];
            reach_text(&walk,
                       ir_part(global->line, global->name.size, global->line.size));
            continue;
        }
        const struct ir_function *function =
            &module->functions[walk.functions[--walk.function_count]];
        for (uint32_t b = 0; b < function->block_count; b++) {
            for (uint32_t i = 0; i < function->blocks[b].count; i++) {
                reach_text(&walk, function->blocks[b].insts[i].line);
            }
        }
    }
}
