/* SPDX-License-Identifier: MIT */
/* Places of instructions: taken out of the text, and found again. */
/* sources: core cpu/compile/ir_* */
#include "check.h"
#include "cpu/compile/ir_place.h"

static struct ir_arena arena;
static struct ir_module module;

static const char text[] =
    "define void @f(ptr %p) #0 !dbg !4 {\n"
    "entry:\n"
    "  %a = load i32, ptr %p, align 4, !dbg !5, !tbaa !12\n"
    "  %b = add i32 %a, 1, !dbg !6\n"
    "  %c = add i32 %b, 1\n"
    "  switch i32 %b, label %x [\n    i32 1, label %x\n  ], !dbg !5\n"
    "x:\n"
    "  br label %x, !dbg !5, !llvm.loop !9\n"
    "}\n"
    "declare !dbg !4 i32 @g()\n"
    "!llvm.dbg.cu = !{!0}\n"
    "!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1)\n"
    "!1 = !DIFile(filename: \"k.hip\", directory: \"\")\n"
    "!2 = !DIFile(filename: \"<hipadapt>/hip/x.h\", directory: \"\")\n"
    "!4 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 3)\n"
    "!5 = !DILocation(line: 7, scope: !4)\n"
    "!6 = !DILocation(line: 99, scope: !7, inlinedAt: !8)\n"
    "!7 = distinct !DISubprogram(name: \"add\", scope: !2, file: !2, line: 98)\n"
    "!8 = distinct !DILocation(line: 8, scope: !4)\n"
    "!9 = distinct !{!9, !5, !8, !10}\n"
    "!10 = !{!\"llvm.loop.mustprogress\"}\n"
    "!12 = !{!10, !10, i64 0}\n";

static void
read_module(void)
{
    arena = (struct ir_arena){0};
    if (setjmp(arena.escape) != 0) {
        fprintf(stderr, "failed: %s\n", ha_error_text());
        exit(1);
    }
    ir_parse(&arena, ir_slice_of(text), &module);
}

static const struct ir_inst *
inst(uint32_t block, uint32_t number)
{
    return &module.functions[0].blocks[block].insts[number];
}

static void
test_lines_are_as_without_places(void)
{
    CHECK(ir_is(module.functions[0].header, "define void @f(ptr %p) #0 {"));
    CHECK(ir_is(inst(0, 0)->line, "%a = load i32, ptr %p, align 4, !tbaa !12"));
    CHECK(ir_is(inst(0, 1)->line, "%b = add i32 %a, 1"));
    CHECK(ir_find(inst(0, 3)->line, "!dbg", 0) == SIZE_MAX);
    CHECK(ir_is(inst(1, 0)->line, "br label %x, !llvm.loop !9"));
    CHECK(ir_is(module.declares[0], "declare i32 @g()"));
}

static void
test_nodes_about_places_are_apart(void)
{
    CHECK_EQUAL(module.metadata_count, 4);
    CHECK(ir_is(module.metadata[1], "!9 = distinct !{!9, !10}"));
    CHECK(ir_is(module.metadata[3], "!12 = !{!10, !10, i64 0}"));
}

static void
test_place_of_inlined_header_is_the_call(void)
{
    struct ir_place own = ir_place_of(&module, inst(0, 0)->place);
    struct ir_place inlined = ir_place_of(&module, inst(0, 1)->place);
    struct ir_place function = ir_place_of(&module, module.functions[0].place);

    CHECK(ir_is(own.file, "k.hip"));
    CHECK_EQUAL(own.line, 7);
    CHECK(ir_is(inlined.file, "k.hip"));
    CHECK_EQUAL(inlined.line, 8);
    CHECK_EQUAL(function.line, 3);
}

static void
test_place_that_is_not_known_has_no_line(void)
{
    CHECK_EQUAL(inst(0, 2)->place, 0);
    CHECK_EQUAL(ir_place_of(&module, 0).line, 0);
    CHECK_EQUAL(ir_place_of(&module, 10).line, 0);
    CHECK_EQUAL(ir_place_of(&module, 4000000000u).line, 0);
}

int
main(void)
{
    read_module();
    test_lines_are_as_without_places();
    test_nodes_about_places_are_apart();
    test_place_of_inlined_header_is_the_call();
    test_place_that_is_not_known_has_no_line();
    ir_arena_release(&arena);
    return 0;
}
