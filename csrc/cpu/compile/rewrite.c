/* SPDX-License-Identifier: MIT */
/* The order of the passes, and what belongs to no function: types, attributes,
 * declarations, variables, the functions of the device.
 *
 * What is written for one kernel `halve` that has a fast form, from the top:
 *
 *     target datalayout = ...                   the host's
 *     attributes #0 = { nounwind } ...          groups keep their numbers
 *     @x = hidden global i32 3                  variables
 *     declare void @llvm.trap() ...             what live code calls
 *     define ... i32 @__ha_rt_block(...)        the device, through the image's table
 *     define ... void @halve.ref(...)           one lane                rewrite_body.c
 *     define ... void @halve.a(...)             one lane, leaves known
 *     define ... i32 @halve.leaf(...)           the leaves              rewrite_fast.c
 *     define ... void @halve.b(...)             one lane
 *     define ... void @halve.fast(...)          blocks of lanes         rewrite_rows.c
 *     @__ha_image = global ...                  the tables            rewrite_tables.c
 *     !8 = ...                                  constants, metadata
 */
#include "cpu/compile/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_form.h"
#include "cpu/compile/ir_strict.h"
#include "cpu/compile/rewrite_body.h"
#include "cpu/compile/rewrite_check.h"
#include "cpu/compile/shadow_insert.h"
#include "cpu/compile/rewrite_contract.h"
#include "cpu/compile/rewrite_fast.h"
#include "cpu/compile/rewrite_forward.h"
#include "cpu/compile/rewrite_guard.h"
#include "cpu/compile/rewrite_half.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_lockstep.h"
#include "cpu/compile/rewrite_metadata.h"
#include "cpu/compile/rewrite_narrow.h"
#include "cpu/compile/rewrite_numbers.h"
#include "cpu/compile/rewrite_plain.h"
#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_report.h"
#include "cpu/compile/rewrite_rows.h"
#include "cpu/compile/rewrite_scan.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_tables.h"
#include "cpu/compile/rewrite_text.h"
#include "cpu/compile/toolchain_flags.h"
#include "cpu/machine/machine.h"

/* The device's functions, through the table that the loader puts into the image.
 * Offsets are those of struct ha_image_runtime. */
static const char runtime_functions[] =
    "define internal ptr @__ha_rt_at(i64 %offset) alwaysinline nounwind {\n"
    "  %at = getelementptr i8, ptr @__ha_image, i64 8\n"
    "  %table = load ptr, ptr %at\n"
    "  %entry = getelementptr i8, ptr %table, i64 %offset\n"
    "  %function = load ptr, ptr %entry\n"
    "  ret ptr %function\n}\n"
    "define internal ptr @__ha_rt_self() alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 0)\n  %r = call ptr %f()\n  ret ptr %r\n}\n"
    "define internal i32 @__ha_rt_block(i32 %op, i32 %value, i32 %line, i32 %site) "
    "alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 8)\n"
    "  %r = call i32 %f(i32 %op, i32 %value, i32 %line, i32 %site)\n  ret i32 %r\n}\n"
    "define internal i64 @__ha_rt_warp(ptr %site, i32 %op, i64 %mask, i64 %value, "
    "i32 %operand, i32 %width) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 16)\n"
    "  %r = call i64 %f(i32 %op, ptr %site, i64 %mask, i64 %value, i32 %operand, "
    "i32 %width)\n  ret i64 %r\n}\n"
    "define internal ptr @__ha_rt_print() alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 24)\n  ret ptr %f\n}\n"
    "define internal void @__ha_rt_assert_fail(ptr %text, ptr %file, i32 %line, "
    "ptr %function) alwaysinline noreturn nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 32)\n"
    "  call void %f(ptr %text, ptr %file, i32 %line, ptr %function)\n"
    "  unreachable\n}\n"
    "define internal ptr @__ha_rt_alloc(i64 %size) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 40)\n  %r = call ptr %f(i64 %size)\n  ret ptr "
    "%r\n}\n"
    "define internal void @__ha_rt_release(ptr %at) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 48)\n  call void %f(ptr %at)\n  ret void\n}\n"
    "define internal i64 @__ha_rt_clock() alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 56)\n  %r = call i64 %f()\n  ret i64 %r\n}\n"
    "define internal void @__ha_rt_pause() alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 64)\n  call void %f()\n  ret void\n}\n"
    "define internal i64 @__ha_rt_query(i32 %what) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 72)\n  %r = call i64 %f(i32 %what)\n  ret i64 "
    "%r\n}\n"
    "define internal i32 @__ha_rt_debug_tensor(ptr %tensor) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 88)\n  %r = call i32 %f(ptr %tensor)\n  ret i32 "
    "%r\n}\n\n";

_Static_assert(offsetof(struct ha_image, runtime) == 8, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, self) == 0, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, block) == 8, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, warp) == 16, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, print) == 24, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, assert_fail) == 32,
               "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, alloc) == 40, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, release) == 48,
               "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, clock) == 56, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, pause) == 64, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, query) == 72, "in runtime_functions");
_Static_assert(offsetof(struct ha_image_runtime, access) == 80, "in ha_guard_function");
_Static_assert(offsetof(struct ha_image_runtime, debug_tensor) == 88,
               "in runtime_functions");

/* Functions that programs reach by other names than those of the device headers;
 * written where a program declares them. */
static const struct {
    const char *name;
    const char *text;
} library_functions[] = {
    {"@_Znwm", "ptr @_Znwm(i64 %size) {\n  %r = call ptr @__ha_rt_alloc(i64 %size)\n"
               "  ret ptr %r\n}\n"},
    {"@_Znam", "ptr @_Znam(i64 %size) {\n  %r = call ptr @__ha_rt_alloc(i64 %size)\n"
               "  ret ptr %r\n}\n"},
    /* Blocks of the heap are aligned to 64 bytes and to the power of two behind their
     * size: what asks for more gets a bigger one. */
    {"@_ZnwmSt11align_val_t",
     "ptr @_ZnwmSt11align_val_t(i64 %size, i64 %align) {\n"
     "  %c = icmp ugt i64 %size, %align\n  %s = select i1 %c, i64 %size, i64 %align\n"
     "  %r = call ptr @__ha_rt_alloc(i64 %s)\n  ret ptr %r\n}\n"},
    {"@_ZnamSt11align_val_t",
     "ptr @_ZnamSt11align_val_t(i64 %size, i64 %align) {\n"
     "  %c = icmp ugt i64 %size, %align\n  %s = select i1 %c, i64 %size, i64 %align\n"
     "  %r = call ptr @__ha_rt_alloc(i64 %s)\n  ret ptr %r\n}\n"},
    {"@_ZdlPvSt11align_val_t",
     "void @_ZdlPvSt11align_val_t(ptr %at, i64 %align) {\n"
     "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@_ZdaPvSt11align_val_t",
     "void @_ZdaPvSt11align_val_t(ptr %at, i64 %align) {\n"
     "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@_ZdlPvmSt11align_val_t",
     "void @_ZdlPvmSt11align_val_t(ptr %at, i64 %size, i64 %align) {\n"
     "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@_ZdaPvmSt11align_val_t",
     "void @_ZdaPvmSt11align_val_t(ptr %at, i64 %size, i64 %align) {\n"
     "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@_ZdlPv", "void @_ZdlPv(ptr %at) {\n  call void @__ha_rt_release(ptr %at)\n"
                "  ret void\n}\n"},
    {"@_ZdaPv", "void @_ZdaPv(ptr %at) {\n  call void @__ha_rt_release(ptr %at)\n"
                "  ret void\n}\n"},
    {"@_ZdlPvm", "void @_ZdlPvm(ptr %at, i64 %size) {\n"
                 "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@_ZdaPvm", "void @_ZdaPvm(ptr %at, i64 %size) {\n"
                 "  call void @__ha_rt_release(ptr %at)\n  ret void\n}\n"},
    {"@__cxa_pure_virtual", "void @__cxa_pure_virtual() {\n  call void @llvm.trap()\n"
                            "  unreachable\n}\n"},
    {"@__cxa_deleted_virtual", "void @__cxa_deleted_virtual() {\n"
                               "  call void @llvm.trap()\n  unreachable\n}\n"},
};

/* ---- types, attributes, declarations ---- */

static void
write_types(struct ha_rewriter *rewriter)
{
    for (size_t i = 0; i < rewriter->module.type_count; i++) {
        struct ir_slice line = ha_host_text(rewriter, rewriter->module.types[i], true);
        ir_print(&rewriter->out, "%.*s\n", IR_ARGS(line));
    }
}

/* Attribute groups lose what belongs to the front end's target: strings, and the rule
 * that calls may not move between lanes, because here each lane is a thread of its own.
 */
static void
write_attributes(struct ha_rewriter *rewriter)
{
    rewriter->kept_attributes.arena = rewriter->arena;
    for (size_t i = 0; i < rewriter->module.attribute_count; i++) {
        struct ir_slice line = rewriter->module.attributes[i];
        struct ir_slice name = ir_token(line, 11);
        size_t open = ir_find(line, "{", 0);
        size_t close = ir_find(line, "}", 0);
        if (open == SIZE_MAX || close == SIZE_MAX) {
            continue;
        }
        bool pure = ir_find(line, "memory(none)", 0) != SIZE_MAX;
        ir_map_set(&rewriter->kept_attributes, name, pure);
        ir_print(&rewriter->out, "attributes %.*s = { nounwind", IR_ARGS(name));
        if (pure) {
            ir_print(&rewriter->out, " willreturn memory(none)");
        }
        ir_print(&rewriter->out, " }\n");
    }
    ir_print(&rewriter->out, "\n");
}

static bool
write_library_function(struct ha_rewriter *rewriter, struct ir_slice name)
{
    for (size_t i = 0; i < sizeof library_functions / sizeof library_functions[0];
         i++) {
        if (ir_is(name, library_functions[i].name)) {
            ir_print(&rewriter->out, "define internal %s", library_functions[i].text);
            return true;
        }
    }
    return false;
}

/* Functions of the C library that kernels may call: those of the device headers that
 * are no intrinsics.  With an f behind them they take floats. */
static const char *const library_names[] = {
    "acos",      "acosh",  "asin",      "asinh",  "atan",   "atan2",  "atanh",
    "cbrt",      "cos",    "cosh",      "erf",    "erfc",   "exp",    "exp10",
    "exp2",      "expm1",  "fdim",      "fmod",   "frexp",  "hypot",  "ilogb",
    "j0",        "j1",     "jn",        "ldexp",  "lgamma", "llrint", "llround",
    "log",       "log10",  "log1p",     "log2",   "logb",   "lrint",  "lround",
    "nextafter", "pow",    "remainder", "remquo", "sin",    "sinh",   "tan",
    "tanh",      "tgamma", "y0",        "y1",     "yn",     "memcpy", "memmove",
    "memset",    "memcmp",
};

static bool
is_library(struct ir_slice name)
{
    name = ir_part(name, 1, name.size);
    for (size_t i = 0; i < sizeof library_names / sizeof library_names[0]; i++) {
        size_t size = strlen(library_names[i]);
        if (ir_begins(name, library_names[i]) &&
            (name.size == size || (name.size == size + 1 && name.at[size] == 'f'))) {
            return true;
        }
    }
    return false;
}

static void
write_declare(struct ha_rewriter *rewriter, struct ir_slice line, struct ir_slice name)
{
    bool intrinsic = ir_begins(name, "@llvm.");

    if (write_library_function(rewriter, name)) {
        return;
    }
    if (!intrinsic && !is_library(name)) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                "function %.*s is declared but not defined", IR_ARGS(name));
    }
    line = ha_host_text(rewriter, line, !intrinsic);
    ir_print(&rewriter->out, "%.*s\n", IR_ARGS(line));
}

/* Intrinsics that the rewriter itself needs come first; overloads that differ by
 * address spaces only are one here. */
static void
write_declares(struct ha_rewriter *rewriter)
{
    struct ir_map *done = &rewriter->declared;
    uint32_t found;

    done->arena = rewriter->arena;
    ir_print(&rewriter->out, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
                             "declare void @llvm.trap() noreturn nounwind\n");
    ir_map_set(done, ir_slice_of("@llvm.memcpy.p0.p0.i64"), 1);
    ir_map_set(done, ir_slice_of("@llvm.trap"), 1);
    for (size_t i = 0; i < rewriter->module.declare_count; i++) {
        struct ir_slice line = rewriter->module.declares[i];
        size_t at = ir_find(line, "@", 0);
        if (at == SIZE_MAX) {
            continue;
        }
        struct ir_slice given = ir_token(line, at);
        struct ir_slice name = ha_host_text(rewriter, given, false);
        bool runtime = rewriter->shadow && ir_begins(given, HA_SHADOW_PREFIX);
        for (int known = 0; known < HA_KNOWN_NONE; known++) {
            runtime |= ir_is(given, ha_known_names[known]);
        }
        if (runtime || !ir_map_get(&rewriter->used, given, &found) ||
            ir_map_get(done, name, &found)) {
            continue;
        }
        ir_map_set(done, name, 1);
        write_declare(rewriter, line, name);
    }
    ir_print(&rewriter->out, "\n");
}

/* ---- variables ---- */

/* A name as the IR writes it, whose bytes beyond ASCII are \XX; NULL: no memory. */
static char *
plain_name(struct ir_slice name)
{
    char *text = strndup(name.at, name.size), *to = text;

    for (char *from = text; text != NULL && *from != '\0'; to++) {
        char digits[3] = "", *end = digits;
        if (from[0] == '\\' && from[1] != '\0') {
            memcpy(digits, from + 1, 2);
        }
        unsigned long byte = strtoul(digits, &end, 16);
        bool escaped = end == digits + 2;
        *to = escaped ? (char)byte : *from;
        from += escaped ? 3 : 1;
    }
    if (text != NULL) {
        *to = '\0';
    }
    return text;
}

/* Where a lowered name stands: "@_ZL12__hip_name_0 = ... constant ptr @f". */
static bool
take_name(struct ha_rewriter *rewriter, const struct ir_global *global, char **lowered)
{
    size_t at = ir_find(global->name, HA_REWRITE_NAME_PREFIX, 0);

    if (at == SIZE_MAX) {
        return false;
    }
    unsigned long number =
        strtoul(global->name.at + at + strlen(HA_REWRITE_NAME_PREFIX), NULL, 10);
    size_t target = ir_find(global->line, "@", global->name.size);
    if (number >= rewriter->name_count || target == SIZE_MAX) {
        return true;
    }
    struct ir_slice name = ir_token(global->line, target);
    name = ir_part(name, 1, name.size);
    if (name.size >= 2 && name.at[0] == '"') {
        name = ir_part(name, 1, name.size - 1);
    }
    free(lowered[number]);
    lowered[number] = plain_name(name);
    if (lowered[number] == NULL) {
        ir_fail(rewriter->arena, HA_ERROR_MEMORY, "no memory for a lowered name");
    }
    return true;
}

/* Where what is said to the linker and to the front end's target begins. */
static size_t
end_of_variable(struct ir_slice rest)
{
    size_t comdat = ir_find(rest, ", comdat", 0);
    size_t attachment = ir_find(rest, ", !", 0);

    return comdat < attachment ? comdat : attachment;
}

/* Variables are written by the host at any time, so constant ones are no constants
 * here. Only the table of the image names them. */
static void
write_variable(struct ha_rewriter *rewriter, const struct ir_global *global)
{
    struct ir_slice line =
        ha_with_kernel_addresses(rewriter, ha_host_text(rewriter, global->line, true));
    size_t kind = ir_find(line, " global ", 0);
    size_t constant = ir_find(line, " constant ", 0);
    size_t skip = 8;

    if (constant < kind) {
        kind = constant;
        skip = 10;
    }
    if (ha_is_variable(global)) {
        struct ir_slice rest = ir_part(line, kind + skip, line.size);
        size_t end = end_of_variable(rest);
        ir_print(&rewriter->out, "%.*s = hidden global %.*s\n", IR_ARGS(global->name),
                 IR_ARGS(ir_part(rest, 0, end)));
        return;
    }
    /* Strings and tables of virtual functions. */
    struct ir_slice rest = ir_part(line, kind, line.size);
    size_t end = end_of_variable(rest);
    ir_print(&rewriter->out, "%.*s = internal unnamed_addr%.*s\n",
             IR_ARGS(global->name), IR_ARGS(ir_part(rest, 0, end)));
}

static void
write_variables(struct ha_rewriter *rewriter, char **lowered)
{
    rewriter->held = ir_alloc(rewriter->arena, rewriter->module.function_count + 1, 1);
    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        if (ir_begins(global->name, "@llvm.global_ctors") ||
            ir_begins(global->name, "@llvm.global_dtors")) {
            ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                    "a device variable needs code to be initialised");
        }
        if (take_name(rewriter, global, lowered) || global->space == 3 ||
            !rewriter->live_globals[i]) {
            continue;
        }
        if (global->external) {
            ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED,
                    "variable %.*s is declared but not defined", IR_ARGS(global->name));
        }
        size_t begin = rewriter->out.size;
        write_variable(rewriter, global);
        rewriter->pieces.texts[i] =
            (struct ir_slice){rewriter->out.text + begin, rewriter->out.size - begin};
    }
    ir_print(&rewriter->out, "\n");
}

/* ---- the whole ---- */

static void
write_functions(struct ha_rewriter *rewriter)
{
    static const struct ha_body reference = {.form = HA_FORM_REFERENCE};
    static const struct ha_body plain = {.form = HA_FORM_FUNCTION};

    ha_lockstep_choose(rewriter);
    ha_plain_choose(rewriter);
    for (uint32_t f = 0; f < rewriter->module.function_count; f++) {
        struct ha_fast fast;
        if (!rewriter->live_functions[f] || !ha_plain_is_wanted(rewriter, f)) {
            continue;
        }
        if (!rewriter->module.functions[f].kernel) {
            ha_body_write(rewriter, f, &plain);
            continue;
        }
        bool asks = rewriter->guard || rewriter->numbers ||
                    (rewriter->check && !ha_plain_is_twin(rewriter, f));
        bool rows = !asks && !rewriter->control && ha_fast_study(rewriter, f, &fast);
        struct ir_slice name = rewriter->module.functions[f].name;
        ha_piece_begin(rewriter);
        ha_body_write(rewriter, f, &reference);
        ha_piece_end(rewriter, ha_suffixed(rewriter->arena, name, "ref"), "ptr, ptr");
        ha_piece_begin(rewriter);
        struct ha_report report = {.module = &rewriter->module};
        ha_gang_write(rewriter, f, rows, &rewriter->gangs[f], &report);
        rewriter->fast[f] = rows || rewriter->gangs[f].width > 0;
        if (rows && rewriter->gangs[f].width == 0) {
            ha_fast_write(rewriter, f, &fast);
        }
        if (rewriter->gangs[f].width == 0) {
            ha_rewrite_report(rewriter, f, rows ? &fast : NULL, &report);
        }
        ha_report_lockstep(rewriter, f, &report);
        rewriter->reports[f] = ha_report_text(&report, &rewriter->module.functions[f]);
        ha_piece_end(rewriter, ha_suffixed(rewriter->arena, name, "fast"),
                     "ptr, ptr, i64, i64, ptr, ptr");
    }
}

/* What was written since the last call. */
static struct ir_slice
take_text(struct ha_rewriter *rewriter)
{
    struct ir_slice text = {rewriter->out.text, rewriter->out.size};

    rewriter->out = (struct ir_out){.arena = rewriter->arena};
    return text;
}

/* The number of parts comes back. */
static uint32_t
rewrite(struct ha_rewriter *rewriter, char **lowered, uint32_t most,
        struct ir_out *parts, bool *many_loops)
{
    rewriter->out.arena = rewriter->arena;
    rewriter->tail.arena = rewriter->arena;
    rewriter->intrinsics.arena = rewriter->arena;
    ir_parse(rewriter->arena, rewriter->text, &rewriter->module);
    if (ir_strict_is_in(rewriter->text.at, rewriter->text.size)) {
        ha_numbers_restore(rewriter);
    }
    ha_rewrite_contract(rewriter);
    ir_types_read(&rewriter->types, &rewriter->module);
    ha_rewrite_scan(rewriter);
    ha_metadata_choose(rewriter);
    ha_metadata_write(rewriter);
    struct ir_slice metadata = take_text(rewriter);
    ir_print(&rewriter->out, "target datalayout = \"%s\"\ntarget triple = \"%s\"\n\n",
             ha_machine.data_layout, ha_machine.triple);
    write_types(rewriter);
    write_attributes(rewriter);
    write_declares(rewriter);
    ir_print(&rewriter->out, "%s%s%s%s%s", runtime_functions,
             rewriter->guard ? ha_guard_function : "",
             rewriter->check ? ha_check_function : "",
             rewriter->numbers ? ha_numbers_functions : "",
             rewriter->shadow ? ha_shadow_functions : "");
    struct ir_slice common = take_text(rewriter);
    ha_pieces_start(rewriter, most);
    write_variables(rewriter, lowered);
    ha_rewrite_half(rewriter);
    write_functions(rewriter);
    rewriter->loops_store = ha_rewrite_loops_store(rewriter);
    rewriter->narrow_steps = ha_rewrite_narrow_steps(rewriter);
    ha_rewrite_tables(rewriter);
    ha_numbers_end(rewriter);
    if (rewriter->intrinsics.size > 0) {
        common = ir_format(rewriter->arena, "%.*s%s\n", IR_ARGS(common),
                           rewriter->intrinsics.text);
    }
    return ha_parts_make(rewriter, common, metadata, most, parts, many_loops);
}

static struct ha_rewriter
rewriter_for(const struct ha_rewrite_request *request, struct ir_arena *arena)
{
    return (struct ha_rewriter){
        .arena = arena,
        .text = {request->ir, request->ir_size},
        .warp_size = request->warp_size,
        .name_count = request->name_count,
        .gang_width = request->gang_width,
        .math_bytes = request->vector_math != 0 ? request->gang_width * 4 : 0,
        .vector_math = request->vector_math,
        .guard = request->guard,
        .lockstep = request->lockstep,
        .check = request->check,
        .numbers = request->numbers,
        .shadow = request->shadow,
        .source = {request->source, request->source_size},
        .source_name =
            ir_slice_of(request->source_name != NULL ? request->source_name : ""),
        .fuses = request->fuses};
}

/* Where ir_fail lands; a function of its own, so that no local survives the jump. */
static enum ha_status
rewrite_guarded(struct ha_rewriter *rewriter, char **lowered, uint32_t most,
                struct ir_out *parts, bool *many_loops, uint32_t *count)
{
    if (setjmp(rewriter->arena->escape) != 0) {
        return rewriter->arena->status;
    }
    *count = rewrite(rewriter, lowered, most, parts, many_loops);
    return HA_OK;
}

static enum ha_status
copy_part(const struct ir_out *text, struct ha_rewrite_part *part)
{
    part->ir = malloc(text->size + 1);
    if (part->ir == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for the compiler's IR");
    }
    memcpy(part->ir, text->text, text->size + 1);
    part->ir_size = text->size;
    return HA_OK;
}

enum ha_status
ha_rewrite(const struct ha_rewrite_request *request, struct ha_rewrite_result *result)
{
    struct ir_arena arena = {.stop = request->stop,
                             .stop_context = request->stop_context};
    struct ha_rewriter rewriter = rewriter_for(request, &arena);
    char **lowered = calloc(request->name_count + 1u, sizeof *lowered);
    struct ir_out parts[HA_REWRITE_PARTS_MAX];
    bool many_loops[HA_REWRITE_PARTS_MAX] = {false};
    uint32_t most = request->parts_most, count = 0;
    struct ha_rewrite_result made = {0};
    enum ha_status status = HA_OK;

    if (lowered == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for lowered names");
    }
    most = most < HA_REWRITE_PARTS_MAX ? most : HA_REWRITE_PARTS_MAX;
    status = rewrite_guarded(&rewriter, lowered, most, parts, many_loops, &count);
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        made.parts[i].many_loops = many_loops[i];
        status = copy_part(&parts[i], &made.parts[made.part_count++]);
    }
    if (status != HA_OK) {
        ha_rewrite_release(&made);
        goto done;
    }
    made.lowered = lowered;
    made.lowered_count = request->name_count;
    made.loops_store = rewriter.loops_store;
    made.narrow_steps = rewriter.narrow_steps;
    *result = made;
    lowered = NULL;
done:
    for (uint32_t i = 0; lowered != NULL && i < request->name_count; i++) {
        free(lowered[i]);
    }
    free(lowered);
    ir_arena_release(&arena);
    return status;
}

static enum ha_status
names_guarded(struct ha_rewriter *rewriter, char **lowered)
{
    if (setjmp(rewriter->arena->escape) != 0) {
        return rewriter->arena->status;
    }
    ir_parse(rewriter->arena, rewriter->text, &rewriter->module);
    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        (void)take_name(rewriter, &rewriter->module.globals[i], lowered);
    }
    return HA_OK;
}

enum ha_status
ha_rewrite_names(const struct ha_rewrite_request *request, char ***lowered)
{
    struct ir_arena arena = {.stop = request->stop,
                             .stop_context = request->stop_context};
    struct ha_rewriter rewriter = rewriter_for(request, &arena);
    uint32_t name_count = request->name_count;
    char **names = calloc(name_count + 1u, sizeof *names);

    if (names == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for lowered names");
    }
    enum ha_status status = names_guarded(&rewriter, names);
    if (status == HA_OK) {
        *lowered = names;
    } else {
        for (uint32_t i = 0; i < name_count; i++) {
            free(names[i]);
        }
        free(names);
    }
    ir_arena_release(&arena);
    return status;
}

void
ha_rewrite_release(struct ha_rewrite_result *result)
{
    for (uint32_t i = 0; i < result->lowered_count; i++) {
        free(result->lowered[i]);
    }
    free(result->lowered);
    for (uint32_t i = 0; i < result->part_count; i++) {
        free(result->parts[i].ir);
    }
    *result = (struct ha_rewrite_result){0};
}
