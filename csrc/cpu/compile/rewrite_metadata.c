/* SPDX-License-Identifier: MIT */
/* The front end's nodes, and what becomes of them:
 *
 *     !nvvm.annotations = !{!0}               gone: named nodes are the target's
 *     !0 = !{ptr @halve}                      gone: it names a function
 *     !4 = !{!5, !5, i64 0}                   stays: types of accesses, loops
 *     !9 = distinct !DISubprogram(...: !0)    gone: it leads to one that is gone
 *
 * Numbers are not given anew.  The rewriter's own nodes get those behind the largest.
 */
#include "cpu/compile/rewrite_metadata.h"

#include <stdlib.h>

#include "cpu/compile/rewrite_state.h"

static bool
is_node(struct ir_slice text)
{
    return text.size > 1 && text.at[0] == '!' && text.at[1] >= '0' && text.at[1] <= '9';
}

/* Whether a node names a function or variable, or a node that does not stay. */
static bool
node_names_lost(const struct ha_rewriter *rewriter, struct ir_slice line)
{
    if (ir_find(line, "@", 0) != SIZE_MAX) {
        return true;
    }
    for (size_t at = 0; (at = ir_find(line, "!", at + 1)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        if (is_node(name) && !ha_keeps_node(rewriter, name)) {
            return true;
        }
    }
    return false;
}

bool
ha_keeps_node(const struct ha_rewriter *rewriter, struct ir_slice name)
{
    uint32_t stays;

    return ir_map_get(&rewriter->nodes, name, &stays) && stays != 0;
}

/* Numbered nodes stay, but those that name functions, which have other names and
 * signatures in host IR, and all that lead there; named ones are the target's. */
void
ha_metadata_choose(struct ha_rewriter *rewriter)
{
    const struct ir_module *module = &rewriter->module;
    bool changed = true;

    rewriter->nodes.arena = rewriter->arena;
    for (size_t i = 0; i < module->metadata_count; i++) {
        struct ir_slice line = module->metadata[i];
        if (is_node(line)) {
            uint32_t number = (uint32_t)strtoul(line.at + 1, NULL, 10);
            rewriter->metadata =
                number >= rewriter->metadata ? number + 1 : rewriter->metadata;
            ir_map_set(&rewriter->nodes, ir_token(line, 0), 1);
        }
    }
    while (changed) {
        changed = false;
        for (size_t i = 0; i < module->metadata_count; i++) {
            struct ir_slice line = module->metadata[i];
            struct ir_slice name = ir_token(line, 0);
            if (is_node(line) && ha_keeps_node(rewriter, name) &&
                node_names_lost(rewriter, line)) {
                ir_map_set(&rewriter->nodes, name, 0);
                changed = true;
            }
        }
    }
}

void
ha_metadata_write(struct ha_rewriter *rewriter)
{
    for (size_t i = 0; i < rewriter->module.metadata_count; i++) {
        struct ir_slice line = rewriter->module.metadata[i];
        if (is_node(line) && ha_keeps_node(rewriter, ir_token(line, 0))) {
            ir_print(&rewriter->out, "%.*s\n", IR_ARGS(line));
        }
    }
}
