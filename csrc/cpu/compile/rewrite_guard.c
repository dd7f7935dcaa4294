/* SPDX-License-Identifier: MIT */
/* Questions before accesses: where the request asks for a guard, each access of a
 * program's own asks the device first (cpu/memory/access.h).
 *
 *     call void @__ha_rt_access(ptr %arrayidx, i64 4, i32 0)      4 bytes, a read
 *     %0 = load float, ptr %arrayidx, align 4
 *     call void @__ha_rt_access(ptr %arrayidx, i64 4, i32 1)      4 bytes, a write
 *     store float %mul3, ptr %arrayidx, align 4
 *
 * Accesses of shared memory by its name, and of constants and variables by theirs, are
 * right anyway. */
#include "cpu/compile/rewrite_guard.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/compile/ir_operand.h"
#include "cpu/compile/rewrite_state.h"

const char ha_guard_function[] =
    "define internal void @__ha_rt_access(ptr %at, i64 %size, i32 %write) "
    "alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 80)\n"
    "  call void %f(ptr %at, i64 %size, i32 %write)\n  ret void\n}\n\n";

/* The name in "ptr %p", "ptr addrspace(1) align 4 %p"; empty for constant expressions,
 * which have a space before their bracket, and for shared and local memory. */
static struct ir_slice
pointer_of(struct ir_slice text)
{
    size_t at = ir_find(text, " %", 0);
    if (!ir_begins(text, "ptr ") || ir_begins(text, "ptr addrspace(3)") ||
        ir_begins(text, "ptr addrspace(5)") || at == SIZE_MAX ||
        ir_find(text, " (", 0) < at || ir_find(text, "@", 0) < at) {
        return (struct ir_slice){text.at, 0};
    }
    return ir_token(text, at + 1);
}

static struct ir_slice
without_words(struct ir_slice text)
{
    static const char *const words[] = {"atomic ", "volatile ", "weak "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (ir_begins(text, words[i])) {
            text = ir_part(text, strlen(words[i]), text.size);
            i = SIZE_MAX; /* from the first one again */
        }
    }
    return text;
}

static void
ask(struct ir_out *out, struct ir_slice operand, struct ir_slice size, bool write)
{
    struct ir_slice pointer = pointer_of(operand);
    if (pointer.size > 0) {
        ir_print(out, "  call void @__ha_rt_access(ptr %.*s, i64 %.*s, i32 %d)\n",
                 IR_ARGS(pointer), IR_ARGS(size), (int)write);
    }
}

static struct ir_slice
number(struct ha_rewriter *rewriter, uint64_t value)
{
    return ir_format(rewriter->arena, "%llu", (unsigned long long)value);
}

/* memcpy, memmove and memset, as intrinsics and as functions. */
static void
ask_call(struct ha_rewriter *rewriter, const struct ir_inst *inst, struct ir_out *out)
{
    struct ir_slice name = inst->callee;
    bool fills = ir_begins(name, "@llvm.memset.") || ir_is(name, "@memset");
    bool copies = ir_begins(name, "@llvm.memcpy.") || ir_is(name, "@memcpy") ||
                  ir_begins(name, "@llvm.memmove.") || ir_is(name, "@memmove");
    bool compares = ir_is(name, "@memcmp");
    uint32_t count;
    if (!fills && !copies && !compares) {
        return;
    }
    struct ir_slice *parts = ir_arguments(rewriter->arena, inst->line, &count);
    if (count < 3) {
        return;
    }
    struct ir_slice size = ir_trim(parts[2]);
    size_t space = size.size;
    while (space > 0 && size.at[space - 1] != ' ') {
        space--;
    }
    bool wide = ir_begins(size, "i64 ");
    size = ir_part(size, space, size.size);
    if (!wide) {
        ir_print(out, "  %%ha.size.%u = zext i32 %.*s to i64\n", rewriter->guards,
                 IR_ARGS(size));
        size = ir_format(rewriter->arena, "%%ha.size.%u", rewriter->guards++);
    }
    ask(out, ir_trim(parts[0]), size, !compares);
    if (!fills) {
        ask(out, ir_trim(parts[1]), size, false);
    }
}

void
ha_guard_write(struct ha_rewriter *rewriter, const struct ir_inst *inst,
               struct ir_out *out)
{
    bool load = ir_is(inst->op, "load");
    bool store = ir_is(inst->op, "store");
    bool exchange = ir_is(inst->op, "cmpxchg");
    uint32_t count;
    if (ir_is(inst->op, "call")) {
        ask_call(rewriter, inst, out);
        return;
    }
    if (!load && !store && !exchange && !ir_is(inst->op, "atomicrmw")) {
        return;
    }
    struct ir_slice rest = without_words(ir_trim(inst->rest));
    struct ir_slice *parts = ir_split(rewriter->arena, rest, &count);
    if (count < 2) {
        return;
    }
    struct ir_slice first = ir_trim(parts[0]);
    struct ir_slice second = ir_trim(parts[1]);
    if (load || store) {
        struct ir_slice type = ir_type_at(rewriter->arena, first);
        ask(out, second, number(rewriter, ir_access_bytes(&rewriter->types, type)),
            store);
        return;
    }
    /* "add ptr %p, i32 %v": the operation comes first. */
    size_t at = exchange ? 0 : ir_find(first, " ptr", 0);
    if (at != SIZE_MAX) {
        struct ir_slice type = ir_type_at(rewriter->arena, second);
        ask(out, ir_trim(ir_part(first, at, first.size)),
            number(rewriter, ir_access_bytes(&rewriter->types, type)), true);
    }
}
