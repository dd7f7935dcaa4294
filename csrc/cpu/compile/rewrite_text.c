/* SPDX-License-Identifier: MIT */
/* One line on its way to the host:
 *
 *     load i32, ptr addrspace(1) %p       ->   load i32, ptr %p
 *     addrspacecast (ptr addrspace(3) @s  ->   bitcast (ptr @s to ptr)
 *         to ptr)
 *     call void @llvm.memset.p3.i64(      ->   call void @llvm.memset.p0.i64(
 *         ptr addrspace(3) %p, ...) #5             ptr %p, ...)
 *     store ptr @kernel, ptr %p           ->   store ptr @kernel.held, ptr %p
 *
 * Text in quotes stays as it is: a name may have all of this in it. */
#include "cpu/compile/rewrite_text.h"

#include <string.h>

#include "cpu/compile/rewrite_state.h"

struct ir_slice
ha_suffixed(struct ir_arena *arena, struct ir_slice name, const char *suffix)
{
    if (name.size > 0 && name.at[name.size - 1] == '"') {
        return ir_format(arena, "%.*s.%s\"", (int)name.size - 1, name.at, suffix);
    }
    return ir_format(arena, "%.*s.%s", IR_ARGS(name), suffix);
}

static size_t
skip_space_number(struct ir_slice line, size_t at)
{
    size_t close = ir_find(line, ")", at);

    return close == SIZE_MAX ? line.size : close + 1;
}

struct ir_slice
ha_host_text(struct ha_rewriter *rewriter, struct ir_slice line, bool attributes)
{
    struct ir_arena *arena = rewriter->arena;
    char *text = ir_alloc(arena, line.size + 1, 1);
    size_t used = 0;
    bool quoted = false;

    for (size_t i = 0; i < line.size;) {
        char c = line.at[i];
        struct ir_slice rest = ir_part(line, i, line.size);
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted || (c != ' ' && c != 'a' && c != '@')) {
            /* a name or a text, or nothing of ours: copied below */
        } else if (ir_begins(rest, " addrspace(")) {
            i = skip_space_number(line, i);
            continue;
        } else if (ir_begins(rest, "addrspacecast")) {
            memcpy(text + used, "bitcast", 7);
            used += 7;
            i += 13;
            continue;
        } else if (ir_begins(rest, "@llvm.")) {
            /* Overloads are named after the address spaces of their pointers. */
            struct ir_slice name = ir_token(line, i);
            for (size_t k = 0; k < name.size; k++) {
                text[used++] = name.at[k];
                if (k > 1 && name.at[k - 1] == 'p' && name.at[k - 2] == '.' &&
                    name.at[k] >= '0' && name.at[k] <= '9') {
                    text[used - 1] = '0';
                }
            }
            i += name.size;
            continue;
        } else if (ir_begins(rest, " #") && rest.size > 2 && rest.at[2] >= '0' &&
                   rest.at[2] <= '9' && !attributes) {
            i += 1 + ir_token(line, i + 1).size;
            continue;
        }
        text[used++] = line.at[i++];
    }
    return (struct ir_slice){text, used};
}

struct ir_slice
ha_with_kernel_addresses(struct ha_rewriter *rewriter, struct ir_slice line)
{
    struct ir_out out = {.arena = rewriter->arena};
    uint32_t number;
    size_t done = 0;

    for (size_t at = 0; (at = ir_find(line, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        if (ir_map_get(&rewriter->functions, name, &number) &&
            rewriter->module.functions[number].kernel) {
            struct ir_slice held = ha_suffixed(rewriter->arena, name, "held");
            if (!rewriter->held[number]) {
                rewriter->held[number] = 1;
                ir_print(&rewriter->tail,
                         "define internal void %.*s() nounwind {\n"
                         "  call void @llvm.trap()\n  unreachable\n}\n",
                         IR_ARGS(held));
            }
            ir_put(&out, ir_part(line, done, at));
            ir_put(&out, held);
            done = at + name.size;
        }
        at += name.size;
    }
    if (done == 0) {
        return line;
    }
    ir_put(&out, ir_part(line, done, line.size));
    return (struct ir_slice){out.text, out.size};
}
