/* SPDX-License-Identifier: MIT */
/* One function in one of its forms.  For `if (i < n) a[i] = 0.5f * a[i];`:
 *
 *     reference    define hidden void @halve.ref(ptr %ha.args, ptr %ha.lane) ... {
 *                  entry:
 *                    %ha.argat.0 = getelementptr ptr, ptr %ha.args, i64 0
 *                    %ha.arg.0 = load ptr, ptr %ha.argat.0
 *                    %a = load ptr, ptr %ha.arg.0, align 1         parameters, by name
 *                    ...
 *                    %ha.at.0 = getelementptr i8, ptr %ha.lane, i64 0
 *                    %ha.thread_x = load i32, ptr %ha.at.0         struct ha_lane
 *                    ...
 *                    %call.i10 = add i32 %ha.thread_x, 0           was the call
 *     body         define internal void @halve.a(ptr %a, i32 %n, i32 %ha.thread_x, ...,
 *                                                i1 %ha.leaf.0) alwaysinline ... {
 *                    %cmp = or i1 %ha.leaf.0, false                was the comparison
 *     function     define internal i32 @f(i32 %x) ... {
 *                    %ha.lane = call ptr @__ha_rt_self()           only if it is needed
 *
 * What the first block must read is known only when all lines have been seen, so the
 * lines are written first, then the head and the first block, and then the lines are
 * appended.  Every value keeps its name: nothing but %ha. is new, and phis stay right
 * because blocks keep their labels and their order. */
#include "cpu/compile/rewrite_body.h"

#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_values.h"
#include "cpu/compile/rewrite_check.h"
#include "cpu/compile/rewrite_fast.h"
#include "cpu/compile/rewrite_guard.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_lockstep.h"
#include "cpu/compile/rewrite_metadata.h"
#include "cpu/compile/rewrite_numbers.h"
#include "cpu/compile/rewrite_sites.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

/* Byte offsets of struct ha_lane and struct ha_grid, in the order of enum ha_known. */
enum { LANE_GRID = 24, LANE_SHARED = 32 };

struct writer {
    struct ha_rewriter *rewriter;
    const struct ir_function *function;
    const struct ha_ir_function_info *info;
    const struct ha_body *body;
    struct ha_sites sites;   /* reference form only */
    struct ir_values values; /* where there are checks */
    struct ir_out prologue;  /* instructions of the first block */
    struct ir_out lines;
    uint32_t expressions; /* constant expressions that became instructions */
    uint32_t prints;
    uint32_t places;                           /* of lines, read */
    uint8_t coordinates[HA_KNOWN_COORDINATES]; /* used */
    uint8_t *shared;                           /* used, per variable */
    bool shared_base;
    uint32_t inst_number;    /* of the instruction at hand, as struct ha_fast counts */
    struct ir_slice numbers; /* at the end of the head */
};

static bool
name_end(char c)
{
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '$' || c == '-' ||
             c == '"');
}

/* Replaces `size` bytes at `at`. */
static struct ir_slice
splice(struct writer *writer, struct ir_slice line, size_t at, size_t size,
       struct ir_slice with)
{
    return ir_format(writer->rewriter->arena, "%.*s%.*s%.*s", (int)at, line.at,
                     IR_ARGS(with), (int)(line.size - at - size), line.at + at + size);
}

/* ---- shared memory ---- */

/* Shared variables have an address per block, so constant expressions of them turn into
 * instructions of the first block.  Finds the expression around `at`: its begin (at the
 * operation) and its bracket. */
static bool
expression_around(struct ir_slice line, size_t at, size_t *begin, size_t *open)
{
    static const char *const words[] = {"getelementptr", "bitcast", "ptrtoint",
                                        "inttoptr",      "trunc",   "add",
                                        "sub",           "xor"};
    size_t depth = 0;
    size_t i = at;

    while (i > 0) {
        i--;
        if (line.at[i] == ')') {
            depth++;
        } else if (line.at[i] == '(' && depth-- == 0) {
            break;
        }
        if (i == 0) {
            return false;
        }
    }
    if (i < 2 || line.at[i - 1] != ' ') {
        return false;
    }
    *open = i;
    size_t end = i - 1;
    for (unsigned steps = 0; steps < 4; steps++) {
        size_t from = end;
        while (from > 0 && !name_end(line.at[from - 1])) {
            from--;
        }
        struct ir_slice word = ir_part(line, from, end);
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            if (ir_is(word, words[k])) {
                *begin = from;
                return true;
            }
        }
        if (!ir_is(word, "inbounds") && !ir_is(word, "nuw") && !ir_is(word, "nusw") &&
            !ir_is(word, "nsw")) {
            return false;
        }
        end = from > 0 ? from - 1 : 0;
    }
    return false;
}

static struct ir_slice
expand_expressions(struct writer *writer, struct ir_slice line)
{
    struct ir_arena *arena = writer->rewriter->arena;
    size_t at = 0;

    while ((at = ir_find(line, "%ha.s", at)) != SIZE_MAX) {
        size_t begin;
        size_t open;
        if (!expression_around(line, at, &begin, &open)) {
            at++;
            continue;
        }
        size_t close = ir_close(arena, line, open);
        ir_print(&writer->prologue, "  %%ha.se.%u = %.*s%.*s\n", writer->expressions,
                 (int)(open - begin), line.at + begin, (int)(close - open - 2),
                 line.at + open + 1);
        line = splice(writer, line, begin, close - begin,
                      ir_format(arena, "%%ha.se.%u", writer->expressions++));
        at = 0;
    }
    return line;
}

static uint64_t
shared_offset(struct writer *writer, uint32_t variable)
{
    const struct ha_shared *shared = &writer->rewriter->shared[variable];

    if (writer->function->kernel) {
        return shared->dynamic ? writer->info->shared_static
                               : writer->info->offsets[variable];
    }
    if (shared->dynamic) {
        ir_fail(writer->rewriter->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s is not inlined and uses dynamic shared memory",
                IR_ARGS(writer->function->name));
    }
    return shared->offset;
}

static struct ir_slice
with_shared_addresses(struct writer *writer, struct ir_slice line)
{
    struct ha_rewriter *rewriter = writer->rewriter;
    uint32_t variable;
    bool any = false;

    for (size_t at = 0; (at = ir_find(line, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        if (!ir_map_get(&rewriter->shared_names, name, &variable)) {
            at += name.size;
            continue;
        }
        struct ir_slice value = ir_format(rewriter->arena, "%%ha.sh.%u", variable);
        if (!writer->shared[variable]) {
            writer->shared[variable] = 1;
            writer->shared_base = true;
            ir_print(&writer->prologue,
                     "  %.*s = getelementptr i8, ptr %%ha.shared, i64 %llu\n",
                     IR_ARGS(value),
                     (unsigned long long)shared_offset(writer, variable));
        }
        line = splice(writer, line, at, name.size, value);
        at += value.size;
        any = true;
    }
    return any ? expand_expressions(writer, line) : line;
}

/* ---- calls of the device headers ---- */

static const char *
runtime_name(enum ha_known known)
{
    static const char *const names[] = {
        [HA_KNOWN_BLOCK] = "@__ha_rt_block",
        [HA_KNOWN_WARP] = "@__ha_rt_warp",
        [HA_KNOWN_ASSERT_FAIL] = "@__ha_rt_assert_fail",
        [HA_KNOWN_ALLOC] = "@__ha_rt_alloc",
        [HA_KNOWN_RELEASE] = "@__ha_rt_release",
        [HA_KNOWN_CLOCK] = "@__ha_rt_clock",
        [HA_KNOWN_PAUSE] = "@__ha_rt_pause",
        [HA_KNOWN_QUERY] = "@__ha_rt_query",
        [HA_KNOWN_DEBUG_TENSOR] = "@__ha_rt_debug_tensor",
    };

    return names[known];
}

/* The call of a barrier, which ends in the number of its line. */
static struct ir_slice
with_line_apart(struct writer *writer, struct ir_slice line, size_t open)
{
    struct ir_arena *arena = writer->rewriter->arena;
    size_t close = ir_close(arena, line, open) - 1;
    size_t at = close;

    while (at > open && line.at[at - 1] >= '0' && line.at[at - 1] <= '9') {
        at--;
    }
    if (at == close || line.at[at - 1] != ' ' || !writer->function->kernel) {
        return line;
    }
    struct ir_slice place = ha_piece_line(writer->rewriter, writer->function->name,
                                          ir_part(line, at, close));
    if (place.size == 0) {
        return line;
    }
    ir_print(&writer->lines, "  %%ha.line.%u = load i32, ptr %.*s\n", writer->places,
             IR_ARGS(place));
    return splice(writer, line, at, close - at,
                  ir_format(arena, "%%ha.line.%u", writer->places++));
}

static struct ir_slice
known_call(struct writer *writer, const struct ir_inst *inst, enum ha_known known,
           struct ir_slice line)
{
    struct ir_arena *arena = writer->rewriter->arena;
    size_t at = ir_find(line, ha_known_names[known], 0);
    size_t size = strlen(ha_known_names[known]);

    if (inst->def.size == 0 &&
        (known < HA_KNOWN_COORDINATES || known == HA_KNOWN_SHARED_DYNAMIC)) {
        return ir_slice_of("; unused");
    }
    if (known < HA_KNOWN_COORDINATES) {
        writer->coordinates[known] = 1;
        /* A copy under the call's name, which later lines use. */
        return ir_format(arena, "%.*s = add i32 %%ha.%s, 0", IR_ARGS(inst->def),
                         ha_coordinate_names[known]);
    }
    if (known == HA_KNOWN_SHARED_DYNAMIC) {
        if (!writer->function->kernel) {
            ir_fail(arena, HA_ERROR_UNSUPPORTED,
                    "function %.*s is not inlined and uses dynamic shared memory",
                    IR_ARGS(writer->function->name));
        }
        writer->shared_base = true;
        return ir_format(arena, "%.*s = getelementptr i8, ptr %%ha.shared, i64 %llu",
                         IR_ARGS(inst->def),
                         (unsigned long long)writer->info->shared_static);
    }
    if (known == HA_KNOWN_PRINT) {
        ir_print(&writer->lines, "  %%ha.print.%u = call ptr @__ha_rt_print()\n",
                 writer->prints);
        return splice(writer, line, at, size,
                      ir_format(arena, "%%ha.print.%u", writer->prints++));
    }
    line = splice(writer, line, at, size, ir_slice_of(runtime_name(known)));
    size_t open = at + strlen(runtime_name(known));
    if (known == HA_KNOWN_BLOCK) {
        line = with_line_apart(writer, line, open);
        return splice(writer, line, ir_close(arena, line, open) - 1, 0,
                      ir_format(arena, ", i32 %u",
                                writer->rewriter->block_sites++ -
                                    writer->rewriter->first.block_site));
    }
    if (known == HA_KNOWN_WARP) {
        return splice(writer, line, open + 1, 0,
                      ir_format(arena, "ptr @__ha_site.%u, ", inst->site));
    }
    return line;
}

/* ---- blocks ---- */

static bool
is_phi(const struct ir_inst *inst)
{
    return ir_is(inst->op, "phi");
}

static bool
touches_memory(const struct ir_inst *inst)
{
    return ir_is(inst->op, "load") || ir_is(inst->op, "store") ||
           (ir_is(inst->op, "call") && ir_begins(inst->callee, "@llvm.mem"));
}

/* ", !kind !7" that host IR cannot have: the node is not there, or is a source line,
 * which belongs to the front end's functions; the host's have other shapes. */
static struct ir_slice
without_lost_metadata(struct writer *writer, struct ir_slice line)
{
    for (size_t at = 0; (at = ir_find(line, ", !", at)) != SIZE_MAX;) {
        struct ir_slice kind = ir_token(line, at + 2);
        size_t behind = at + 2 + kind.size + 1;
        struct ir_slice node = ir_token(line, behind);
        if (node.size > 1 && node.at[0] == '!' &&
            (ir_is(kind, "!dbg") || !ha_keeps_node(writer->rewriter, node))) {
            line = splice(writer, line, at, behind + node.size - at, ir_slice_of(""));
        } else {
            at += 2;
        }
    }
    return line;
}

/* A copy in step: all lanes read before one of them writes. */
static void
write_copy(struct writer *writer, const struct ir_inst *inst, struct ir_slice line)
{
    struct ha_rewriter *rewriter = writer->rewriter;
    struct ir_slice to;
    struct ir_slice from;
    unsigned long long bytes = ha_lockstep_copy(rewriter, line, &to, &from);

    ir_print(&writer->lines, "  %%ha.copy.%u = load <%llu x i8>, %.*s, align 1\n",
             inst->site, bytes, IR_ARGS(from));
    ha_sites_write_step(rewriter, inst->site + 1,
                        writer->info->lockstep == HA_LOCKSTEP_WANTED, &writer->lines);
    ir_print(&writer->lines, "  store <%llu x i8> %%ha.copy.%u, %.*s, align 1\n", bytes,
             inst->site, IR_ARGS(to));
}

static void
write_inst(struct writer *writer, const struct ir_inst *inst)
{
    struct ha_rewriter *rewriter = writer->rewriter;
    const struct ha_fast *fast = writer->body->fast;
    enum ha_known known = ha_known_of(inst);
    uint32_t number;
    bool library = ir_is(inst->op, "call") && inst->callee.size > 0 &&
                   inst->callee.at[0] == '@' && known == HA_KNOWN_NONE &&
                   !ir_map_get(&rewriter->functions, inst->callee, &number);
    struct ir_slice line =
        without_lost_metadata(writer, ha_host_text(rewriter, inst->line, library));

    if (fast != NULL && writer->body->leaves) {
        for (uint32_t i = 0; i < fast->leaf_count; i++) {
            if (fast->leaf_of[i] == writer->inst_number) {
                line = ir_format(rewriter->arena, "%.*s = or i1 %%ha.leaf.%u, false",
                                 IR_ARGS(inst->def), i);
            }
        }
    }
    if (fast != NULL && writer->body->flags && fast->flagged[writer->inst_number] &&
        ir_find(line, " nuw", 0) == SIZE_MAX && ir_find(line, " nsw", 0) == SIZE_MAX &&
        ir_is(inst->op, "add")) {
        size_t at = ir_find(line, " = ", 0) + 3 + inst->op.size;
        line = splice(writer, line, at, 0, ir_slice_of(" nuw nsw"));
    }
    if (known == HA_KNOWN_CHECK) {
        line = ha_check_line(rewriter, writer->function, &writer->values, inst);
    } else if (known != HA_KNOWN_NONE) {
        line = known_call(writer, inst, known, line);
    }
    line = ha_with_kernel_addresses(rewriter, with_shared_addresses(writer, line));
    if (inst->step && writer->body->form == HA_FORM_REFERENCE) {
        ha_sites_write_step(rewriter, inst->site,
                            writer->info->lockstep == HA_LOCKSTEP_WANTED,
                            &writer->lines);
    }
    if (rewriter->guard) {
        ha_guard_write(rewriter, inst, &writer->lines);
    }
    if (inst->step && writer->body->form == HA_FORM_REFERENCE &&
        ha_lockstep_is_copy(inst)) {
        write_copy(writer, inst, line);
        return;
    }
    if (rewriter->numbers) {
        line = ha_numbers_line(rewriter, line);
    }
    ir_print(&writer->lines, "  %.*s", IR_ARGS(line));
    if (rewriter->numbers) {
        ir_put(&writer->lines, ha_numbers_place(rewriter, inst));
    }
    if (fast != NULL && fast->parallel && touches_memory(inst)) {
        ir_print(&writer->lines, ", !llvm.access.group !%u", rewriter->metadata);
    }
    ir_print(&writer->lines, "\n");
    if (rewriter->numbers) {
        ha_numbers_after(rewriter, inst, &writer->lines);
    }
}

static void
write_block(struct writer *writer, uint32_t number)
{
    const struct ir_block *block = &writer->function->blocks[number];
    uint32_t loop = ha_sites_loop_at(&writer->sites, number);
    uint32_t i = 0;

    if (loop != IR_NONE) {
        ha_sites_write_phi(&writer->sites, loop, &writer->lines);
    }
    for (; i < block->count && is_phi(&block->insts[i]); i++) {
        write_inst(writer, &block->insts[i]);
        writer->inst_number++;
    }
    /* Behind the program's own phis: IR wants them first. */
    if (loop != IR_NONE) {
        ha_sites_write_round(&writer->sites, loop, &writer->lines);
    }
    for (; i < block->count; i++) {
        write_inst(writer, &block->insts[i]);
        writer->inst_number++;
    }
}

/* ---- heads ---- */

static struct ir_layout
layout_of_param(struct writer *writer, const struct ir_param *param)
{
    struct ir_layout layout = ir_layout_of(
        &writer->rewriter->types, param->byval.size > 0 ? param->byval : param->type);

    if (param->byval.size > 0 && param->align > 0) {
        layout.align = param->align;
    }
    return layout;
}

/* A record that the kernel writes to is copied, because all lanes share the argument.
 */
static void
write_record_copy(struct writer *writer, const struct ir_param *param,
                  struct ir_slice source)
{
    struct ir_layout layout = layout_of_param(writer, param);
    struct ir_slice type = ha_host_text(writer->rewriter, param->byval, false);

    ir_print(&writer->rewriter->out, "  %.*s = alloca %.*s, align %llu\n",
             IR_ARGS(param->name), IR_ARGS(type), (unsigned long long)layout.align);
    ir_print(
        &writer->rewriter->out,
        "  call void @llvm.memcpy.p0.p0.i64(ptr %.*s, ptr %.*s, i64 %llu, i1 false)\n",
        IR_ARGS(param->name), IR_ARGS(source), (unsigned long long)layout.size);
}

static void
write_reference_params(struct writer *writer)
{
    struct ir_out *out = &writer->rewriter->out;

    for (uint32_t i = 0; i < writer->function->param_count; i++) {
        const struct ir_param *param = &writer->function->params[i];
        struct ir_slice name = param->name;
        struct ir_slice type = ha_host_text(writer->rewriter, param->type, false);
        struct ir_slice from = ir_format(writer->rewriter->arena, "%%ha.arg.%u", i);
        ir_print(out,
                 "  %%ha.argat.%u = getelementptr ptr, ptr %%ha.args, i64 %u\n"
                 "  %.*s = load ptr, ptr %%ha.argat.%u\n",
                 i, i, IR_ARGS(from), i);
        if (param->byval.size > 0 && !param->constant) {
            write_record_copy(writer, param, from);
        } else if (param->byval.size > 0) {
            ir_print(out, "  %.*s = getelementptr i8, ptr %.*s, i64 0\n", IR_ARGS(name),
                     IR_ARGS(from));
        } else if (ir_is(type, "i1")) {
            /* A bool of C is a byte. */
            ir_print(out,
                     "  %%ha.bool.%u = load i8, ptr %.*s\n  %.*s = icmp ne i8 "
                     "%%ha.bool.%u, 0\n",
                     i, IR_ARGS(from), IR_ARGS(name), i);
        } else {
            /* The address is the program's, and need not be aligned. */
            ir_print(out, "  %.*s = load %.*s, ptr %.*s, align 1\n", IR_ARGS(name),
                     IR_ARGS(type), IR_ARGS(from));
        }
    }
}

/* Reads the coordinates and the shared memory of the lane. */
static void
write_lane_values(struct writer *writer)
{
    struct ir_out *out = &writer->rewriter->out;
    bool grid = false;

    for (unsigned i = 0; i < HA_KNOWN_COORDINATES; i++) {
        if (!writer->coordinates[i]) {
            continue;
        }
        bool in_grid = i >= HA_KNOWN_BLOCK_DIM_X;
        if (in_grid && !grid) {
            ir_print(out,
                     "  %%ha.gridat = getelementptr i8, ptr %%ha.lane, i64 %u\n"
                     "  %%ha.grid = load ptr, ptr %%ha.gridat\n",
                     LANE_GRID);
            grid = true;
        }
        ir_print(out,
                 "  %%ha.at.%u = getelementptr i8, ptr %s, i64 %u\n"
                 "  %%ha.%s = load i32, ptr %%ha.at.%u\n",
                 i, in_grid ? "%ha.grid" : "%ha.lane",
                 4 * (in_grid ? i - HA_KNOWN_BLOCK_DIM_X : i), ha_coordinate_names[i],
                 i);
    }
    if (writer->shared_base) {
        ir_print(out,
                 "  %%ha.sharedat = getelementptr i8, ptr %%ha.lane, i64 %u\n"
                 "  %%ha.shared = load ptr, ptr %%ha.sharedat\n",
                 LANE_SHARED);
    }
}

static bool
needs_lane(const struct writer *writer)
{
    bool needed = writer->shared_base;

    for (unsigned i = 0; i < HA_KNOWN_COORDINATES; i++) {
        needed |= writer->coordinates[i] != 0;
    }
    return needed;
}

/* The words between "define" and the name that stay: the result and its attributes.
 * Linkage and calling convention are the target's; host functions are all internal. */
static void
write_result(struct writer *writer)
{
    static const char *const dropped[] = {"define",
                                          "dso_local",
                                          "linkonce_odr",
                                          "linkonce",
                                          "weak",
                                          "weak_odr",
                                          "internal",
                                          "private",
                                          "hidden",
                                          "protected",
                                          "external",
                                          "available_externally",
                                          "local_unnamed_addr",
                                          "unnamed_addr",
                                          "ptx_kernel",
                                          "ptx_device"};
    struct ir_slice header =
        ha_host_text(writer->rewriter, writer->function->header, false);
    struct ir_slice head = ir_part(header, 0, ir_find(header, "@", 0));

    for (size_t at = 0; at < head.size;) {
        size_t end = at;
        size_t depth = 0;
        while (end < head.size && (head.at[end] != ' ' || depth > 0)) {
            depth += strchr("([{<", head.at[end]) != NULL;
            depth -= strchr(")]}>", head.at[end]) != NULL;
            end++;
        }
        struct ir_slice word = ir_part(head, at, end);
        bool drop = word.size == 0;
        for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
            drop |= ir_is(word, dropped[i]);
        }
        if (!drop) {
            ir_print(&writer->rewriter->out, "%.*s ", IR_ARGS(word));
        }
        at = end + 1;
    }
}

static void
write_function_head(struct writer *writer)
{
    struct ir_slice header =
        ha_host_text(writer->rewriter, writer->function->header, false);
    size_t open = ir_find(header, "@", 0) + writer->function->name.size;
    size_t close = ir_close(writer->rewriter->arena, header, open);

    ir_print(&writer->rewriter->out, "define internal ");
    write_result(writer);
    ir_print(&writer->rewriter->out, "%.*s%.*s nounwind " HA_PROBED "%.*s {\n",
             IR_ARGS(writer->function->name), (int)(close - open), header.at + open,
             IR_ARGS(writer->numbers));
}

static void
write_body_head(struct writer *writer)
{
    struct ha_rewriter *rewriter = writer->rewriter;
    struct ir_out *out = &rewriter->out;

    ir_print(out, "define internal void %.*s(",
             IR_ARGS(ha_suffixed(rewriter->arena, writer->function->name,
                                 writer->body->suffix)));
    for (uint32_t i = 0; i < writer->function->param_count; i++) {
        const struct ir_param *param = &writer->function->params[i];
        struct ir_slice type = ha_host_text(rewriter, param->type, false);
        if (param->byval.size > 0 && !param->constant) {
            ir_print(out, "ptr %%ha.in.%u, ", i);
        } else {
            ir_print(out, "%.*s %s%.*s, ", IR_ARGS(type),
                     param->noalias ? "noalias " : "", IR_ARGS(param->name));
        }
    }
    for (unsigned i = 0; i < HA_KNOWN_COORDINATES; i++) {
        ir_print(out, "%si32 %%ha.%s", i > 0 ? ", " : "", ha_coordinate_names[i]);
    }
    for (uint32_t i = 0; writer->body->leaves && i < writer->body->fast->leaf_count;
         i++) {
        ir_print(out, ", i1 %%ha.leaf.%u", i);
    }
    ir_print(out, ") alwaysinline nounwind " HA_PROBED " {\n");
}

static void
write_head(struct writer *writer)
{
    struct ha_rewriter *rewriter = writer->rewriter;

    switch (writer->body->form) {
    case HA_FORM_REFERENCE:
        ir_print(
            &rewriter->out,
            "define hidden void %.*s(ptr %%ha.args, ptr %%ha.lane) nounwind " HA_PROBED
            "%.*s {\n",
            IR_ARGS(ha_suffixed(rewriter->arena, writer->function->name, "ref")),
            IR_ARGS(writer->numbers));
        break;
    case HA_FORM_FUNCTION:
        write_function_head(writer);
        break;
    case HA_FORM_BODY:
        write_body_head(writer);
        break;
    }
}

static void
write_first_block(struct writer *writer)
{
    struct ha_rewriter *rewriter = writer->rewriter;

    switch (writer->body->form) {
    case HA_FORM_REFERENCE:
        write_reference_params(writer);
        write_lane_values(writer);
        break;
    case HA_FORM_FUNCTION:
        if (needs_lane(writer)) {
            ir_print(&rewriter->out, "  %%ha.lane = call ptr @__ha_rt_self()\n");
            write_lane_values(writer);
        }
        break;
    case HA_FORM_BODY:
        for (uint32_t i = 0; i < writer->function->param_count; i++) {
            const struct ir_param *param = &writer->function->params[i];
            if (param->byval.size > 0 && !param->constant) {
                write_record_copy(writer, param,
                                  ir_format(rewriter->arena, "%%ha.in.%u", i));
            }
        }
        break;
    }
    ir_print(&rewriter->out, "%s",
             writer->prologue.text != NULL ? writer->prologue.text : "");
}

void
ha_body_write(struct ha_rewriter *rewriter, uint32_t number, const struct ha_body *body)
{
    struct ir_arena *arena = rewriter->arena;
    const struct ir_function *function = &rewriter->module.functions[number];
    struct writer writer = {
        .rewriter = rewriter,
        .function = function,
        .info = &rewriter->infos[number],
        .body = body,
        .prologue = {.arena = arena},
        .lines = {.arena = arena},
    };
    size_t *ends = ir_alloc(arena, function->block_count, sizeof *ends);

    writer.shared = ir_alloc(arena, rewriter->shared_count + 1u, 1);
    writer.numbers = ha_numbers_head(rewriter, function);
    if (rewriter->check) {
        ir_values_read(arena, function, &writer.values);
    }
    if (body->form == HA_FORM_REFERENCE) {
        ha_sites_read(rewriter, number, &writer.sites);
    }
    for (uint32_t b = 0; b < function->block_count; b++) {
        write_block(&writer, b);
        ends[b] = writer.lines.size;
    }
    write_head(&writer);
    for (uint32_t b = 0; b < function->block_count; b++) {
        struct ir_slice label = function->blocks[b].label;
        size_t begin = b > 0 ? ends[b - 1] : 0;
        ir_print(&rewriter->out, "%.*s:\n", (int)label.size - 1, label.at + 1);
        if (b == 0) {
            write_first_block(&writer);
        }
        ir_put(&rewriter->out,
               (struct ir_slice){writer.lines.text + begin, ends[b] - begin});
    }
    ir_print(&rewriter->out, "}\n\n");
}
