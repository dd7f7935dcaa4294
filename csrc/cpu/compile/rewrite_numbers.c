/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_numbers.h"

#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_place.h"
#include "cpu/compile/ir_strict.h"
#include "cpu/compile/rewrite_check.h"
#include "cpu/compile/rewrite_state.h"

#define ARGUMENTS_MOST 3u

const char ha_numbers_functions[] =
    "define internal void @__ha_rt_made_float(float %r, float %a, float %b, ptr %site) "
    "alwaysinline nounwind {\n"
    "  %bits = bitcast float %r to i32\n"
    "  %up = and i32 %bits, 2139095040\n"
    "  %odd = icmp eq i32 %up, 2139095040\n"
    "  br i1 %odd, label %tell, label %done\n"
    "tell:\n"
    "  %ab = bitcast float %a to i32\n"
    "  %bb = bitcast float %b to i32\n"
    "  %rw = zext i32 %bits to i64\n"
    "  %aw = zext i32 %ab to i64\n"
    "  %bw = zext i32 %bb to i64\n"
    "  %f = call ptr @__ha_rt_at(i64 104)\n"
    "  call void %f(ptr %site, i64 %rw, i64 %aw, i64 %bw, i32 32)\n"
    "  br label %done\n"
    "done:\n  ret void\n}\n"
    "define internal void @__ha_rt_made_double(double %r, double %a, double %b, ptr "
    "%site) alwaysinline nounwind {\n"
    "  %bits = bitcast double %r to i64\n"
    "  %up = and i64 %bits, 9218868437227405312\n"
    "  %odd = icmp eq i64 %up, 9218868437227405312\n"
    "  br i1 %odd, label %tell, label %done\n"
    "tell:\n"
    "  %aw = bitcast double %a to i64\n"
    "  %bw = bitcast double %b to i64\n"
    "  %f = call ptr @__ha_rt_at(i64 104)\n"
    "  call void %f(ptr %site, i64 %bits, i64 %aw, i64 %bw, i32 64)\n"
    "  br label %done\n"
    "done:\n  ret void\n}\n\n";

_Static_assert(offsetof(struct ha_image_runtime, made) == 104,
               "in ha_numbers_functions");

void
ha_numbers_restore(struct ha_rewriter *rewriter)
{
    for (size_t f = 0; f < rewriter->module.function_count; f++) {
        struct ir_function *function = &rewriter->module.functions[f];
        for (uint32_t b = 0; b < function->block_count; b++) {
            for (uint32_t i = 0; i < function->blocks[b].count; i++) {
                struct ir_inst *inst = &function->blocks[b].insts[i];
                struct ir_slice line = ir_strict_read(rewriter->arena, inst);
                uint32_t place = inst->place;
                if (line.size > 0) {
                    *inst = ir_inst_of(line);
                    inst->place = place;
                }
            }
        }
    }
}

/* ---- line tables ---- */

static uint32_t
new_node(struct ha_rewriter *rewriter)
{
    return rewriter->metadata++;
}

struct ir_slice
ha_numbers_head(struct ha_rewriter *rewriter, const struct ir_function *function)
{
    struct ha_numbers_nodes *nodes = &rewriter->numbers_nodes;
    struct ir_out *tail = &rewriter->tail;

    if (!rewriter->numbers) {
        return ir_slice_of("");
    }
    if (nodes->unit == 0) {
        nodes->unit = new_node(rewriter);
        nodes->file = new_node(rewriter);
        nodes->type = new_node(rewriter);
    }
    nodes->function = new_node(rewriter);
    nodes->nowhere = new_node(rewriter);
    nodes->of_place = ir_alloc(rewriter->arena, rewriter->module.place_count + 1u,
                               sizeof *nodes->of_place);
    ir_print(tail,
             "!%u = distinct !DISubprogram(name: \"k%u\", file: !%u, type: !%u, unit: "
             "!%u, spFlags: DISPFlagDefinition)\n"
             "!%u = !DILocation(line: 0, scope: !%u)\n",
             nodes->function, nodes->function, nodes->file, nodes->type, nodes->unit,
             nodes->nowhere, nodes->function);
    (void)function;
    return ir_format(rewriter->arena, " !dbg !%u", nodes->function);
}

/* A part of a file's name: the back end would take a folder out of it. */
static void
put_name(struct ha_rewriter *rewriter, struct ir_slice text)
{
    char *bytes = ir_alloc(rewriter->arena, text.size + 1, 1);

    for (size_t i = 0; i < text.size; i++) {
        bytes[i] = text.at[i] == '/' ? HA_LINES_SLASH : text.at[i];
    }
    ha_check_put_text(&rewriter->tail, (struct ir_slice){bytes, text.size});
}

/* A file that is named by what is to be told of the place. */
static void
write_file(struct ha_rewriter *rewriter, uint32_t node, const struct ir_place *place)
{
    struct ir_out *tail = &rewriter->tail;

    ir_print(tail, "!%u = !DIFile(filename: \"", node);
    put_name(rewriter, place->file);
    ir_print(tail, "\\0A");
    put_name(rewriter, place->function);
    ir_print(tail, "\\0A");
    put_name(rewriter, ha_check_line_of(rewriter, place));
    ir_print(tail, "\", directory: \"\")\n");
}

static uint32_t
node_of(struct ha_rewriter *rewriter, uint32_t number)
{
    struct ha_numbers_nodes *nodes = &rewriter->numbers_nodes;

    if (number == 0 || number >= rewriter->module.place_count) {
        return nodes->nowhere;
    }
    if (nodes->of_place[number] == 0) {
        struct ir_place place = ir_place_of(&rewriter->module, number);
        if (place.line == 0) {
            return nodes->nowhere;
        }
        uint32_t file = new_node(rewriter), block = new_node(rewriter);
        nodes->of_place[number] = new_node(rewriter);
        write_file(rewriter, file, &place);
        ir_print(&rewriter->tail,
                 "!%u = !DILexicalBlockFile(scope: !%u, file: !%u, discriminator: 0)\n"
                 "!%u = !DILocation(line: %u, column: %u, scope: !%u)\n",
                 block, nodes->function, file, nodes->of_place[number], place.line,
                 place.column, block);
    }
    return nodes->of_place[number];
}

struct ir_slice
ha_numbers_place(struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    return ir_format(rewriter->arena, ", !dbg !%u", node_of(rewriter, inst->place));
}

void
ha_numbers_end(struct ha_rewriter *rewriter)
{
    const struct ha_numbers_nodes *nodes = &rewriter->numbers_nodes;
    uint32_t first;

    if (nodes->unit == 0) {
        return;
    }
    first = new_node(rewriter);
    (void)new_node(rewriter);
    (void)new_node(rewriter);
    ir_print(&rewriter->tail,
             "!llvm.dbg.cu = !{!%u}\n!llvm.module.flags = !{!%u, !%u}\n"
             "!%u = distinct !DICompileUnit(language: DW_LANG_C99, file: !%u, "
             "emissionKind: LineTablesOnly)\n"
             "!%u = !DIFile(filename: \"-\", directory: \"\")\n"
             "!%u = !DISubroutineType(types: !%u)\n!%u = !{null}\n"
             "!%u = !{i32 2, !\"Debug Info Version\", i32 3}\n"
             "!%u = !{i32 7, !\"Dwarf Version\", i32 4}\n",
             nodes->unit, first, first + 1, nodes->unit, nodes->file, nodes->file,
             nodes->type, first + 2, first + 2, first, first + 1);
}

/* ---- arithmetic ---- */

struct ir_slice
ha_numbers_line(struct ha_rewriter *rewriter, struct ir_slice line)
{
    struct ir_inst inst = ir_inst_of(line);
    struct ir_slice made = ir_strict_write(rewriter->arena, &inst);

    return made.size > 0 ? made : line;
}

/* Whether the back end calls a function for it, or another pass of the program's. */
static bool
is_library(const struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    static const char *const instructions[] = {
        "@llvm.sqrt.",  "@llvm.fabs.",    "@llvm.copysign.",  "@llvm.floor.",
        "@llvm.ceil.",  "@llvm.trunc.",   "@llvm.rint.",      "@llvm.nearbyint.",
        "@llvm.round.", "@llvm.minnum.",  "@llvm.maxnum.",    "@llvm.minimum.",
        "@llvm.frexp.", "@llvm.vector.",  "@llvm.canonicali", "@llvm.maximum.",
        "@llvm.fma.",   "@llvm.fmuladd.", "@llvm.roundeven."};
    uint32_t number;

    if (ir_is(inst->op, "frem")) {
        return true;
    }
    if (!ir_is(inst->op, "call") || inst->callee.size == 0 ||
        inst->callee.at[0] != '@' || ir_begins(inst->callee, "@__ha_") ||
        ir_map_get(&rewriter->functions, inst->callee, &number)) {
        return false;
    }
    if (!rewriter->fuses && ir_begins(inst->callee, "@llvm.fma.")) {
        return true;
    }
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
        if (ir_begins(inst->callee, instructions[i])) {
            return false;
        }
    }
    return true;
}

/* The values of `type` among what the instruction is given. */
static uint32_t
values_of(struct ha_rewriter *rewriter, const struct ir_inst *inst, const char *type,
          struct ir_slice values[ARGUMENTS_MOST])
{
    struct ir_arena *arena = rewriter->arena;
    uint32_t count, found = 0;
    uint64_t unused = 0;
    struct ir_slice *given;

    if (ir_is(inst->op, "frem")) {
        size_t at = ir_find(inst->rest, type, 0);
        given = ir_split(arena, ir_part(inst->rest, at, inst->rest.size), &count);
        values[0] = ir_trim(ir_part(given[0], strlen(type), given[0].size));
        values[1] = ir_trim(given[1]);
        return 2;
    }
    given = ir_arguments(arena, inst->line, &count);
    for (uint32_t i = 0; i < count && found < ARGUMENTS_MOST; i++) {
        struct ir_slice one = ir_trim(given[i]);
        if (ir_is(ir_type_at(arena, one), type)) {
            values[found++] =
                ir_without_attributes(ir_part(one, strlen(type), one.size), &unused);
        }
    }
    return found;
}

/* "fptrunc double %x to half": where the processor has an instruction, it raises
 * exceptions; a function of ours does not. */
static void
check_narrowing(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                struct ir_out *out)
{
    size_t to = ir_find(inst->rest, " to ", 0), at = ir_find(inst->rest, "%", 0);
    struct ir_slice type = ir_part(inst->rest, to + 4, inst->rest.size);
    const char *from = ir_find(inst->rest, "double ", 0) < to ? "double" : "float";

    if (to == SIZE_MAX || at > to || (!ir_is(type, "half") && !ir_is(type, "bfloat"))) {
        return;
    }
    struct ir_slice value = ir_token(inst->rest, at);
    uint32_t site = ha_check_site_write(rewriter, inst);
    ir_print(out,
             "  %%ha.wide.%u = fpext %.*s %.*s to %s\n"
             "  call void @__ha_rt_made_%s(%s %%ha.wide.%u, %s %.*s, %s %.*s, ptr "
             "@__ha_check_site.%u)\n",
             site, IR_ARGS(type), IR_ARGS(inst->def), from, from, from, site, from,
             IR_ARGS(value), from, IR_ARGS(value), site);
}

/* "float" or "double" that the instruction gives, or NULL. */
static const char *
result_of(const struct ir_inst *inst)
{
    static const char *const types[] = {"float", "double"};

    for (size_t i = 0; i < 2; i++) {
        size_t at = ir_find(inst->rest, types[i], 0);
        size_t callee = inst->callee.size > 0
                            ? (size_t)(inst->callee.at - inst->rest.at)
                            : inst->rest.size;
        if (at < callee && (at == 0 || inst->rest.at[at - 1] == ' ')) {
            return types[i];
        }
    }
    return NULL;
}

void
ha_numbers_after(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                 struct ir_out *out)
{
    struct ir_slice values[ARGUMENTS_MOST];
    const char *type = inst->def.size > 0 ? result_of(inst) : NULL;

    if (ir_is(inst->op, "fptrunc")) {
        check_narrowing(rewriter, inst, out);
    }
    if (type == NULL || !is_library(rewriter, inst)) {
        return;
    }
    uint32_t count = values_of(rewriter, inst, type, values);
    if (count == 0) {
        return;
    }
    ir_print(out,
             "  call void @__ha_rt_made_%s(%s %.*s, %s %.*s, %s %.*s, ptr "
             "@__ha_check_site.%u)\n",
             type, type, IR_ARGS(inst->def), type, IR_ARGS(values[0]), type,
             IR_ARGS(values[count > 1 ? 1 : 0]), ha_check_site_write(rewriter, inst));
}
