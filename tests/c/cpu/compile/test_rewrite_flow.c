/* SPDX-License-Identifier: MIT */
/* Program order and loops of a function's blocks. */
/* sources: core cpu/compile/ir_* */
#include "check.h"
#include "cpu/compile/ir_flow.h"

static struct ir_arena arena;
static struct ir_module module;
static struct ir_flow flow;

/* Parses one function and reads its flow. */
static void
read_flow(const char *text)
{
    arena = (struct ir_arena){0};
    if (setjmp(arena.escape) != 0) {
        fprintf(stderr, "failed: %s\n", ha_error_text());
        exit(1);
    }
    ir_parse(&arena, ir_slice_of(text), &module);
    CHECK_EQUAL(module.function_count, 1);
    ir_flow_read(&arena, &module.functions[0], &flow);
}

static uint32_t
block(const char *label)
{
    const struct ir_function *function = &module.functions[0];

    for (uint32_t i = 0; i < function->block_count; i++) {
        if (ir_is(function->blocks[i].label, label)) {
            return i;
        }
    }
    fprintf(stderr, "no block %s\n", label);
    exit(1);
}

static uint32_t
order(const char *label)
{
    return flow.order[block(label)];
}

static void
test_order_of_branches_has_join_last(void)
{
    read_flow("define void @f(i1 %c) {\n"
              "entry:\n  br i1 %c, label %then, label %else\n"
              "else:\n  br label %end\n"
              "then:\n  br label %end\n"
              "end:\n  ret void\n}\n");
    CHECK_EQUAL(order("%entry"), 0);
    CHECK_EQUAL(order("%end"), 3);
    CHECK_EQUAL(flow.loop_count, 0);
    ir_arena_release(&arena);
}

/* The way out of the loop stands in one of two branches: it must not come before the
 * other branch. */
static void
test_order_of_loop_with_exit_in_branch_keeps_loop_together(void)
{
    static const char *const texts[] = {
        "define void @f(i1 %c) {\n"
        "entry:\n  br label %head\n"
        "head:\n  br i1 %c, label %a, label %b\n"
        "a:\n  br label %latch\n"
        "b:\n  br i1 %c, label %exit, label %latch\n"
        "latch:\n  br label %head\n"
        "exit:\n  ret void\n}\n",
        "define void @f(i1 %c) {\n"
        "entry:\n  br label %head\n"
        "head:\n  br i1 %c, label %b, label %a\n"
        "exit:\n  ret void\n"
        "a:\n  br label %latch\n"
        "b:\n  br i1 %c, label %latch, label %exit\n"
        "latch:\n  br label %head\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        read_flow(texts[i]);
        CHECK_EQUAL(flow.loop_count, 1);
        CHECK_EQUAL(order("%entry"), 0);
        CHECK_EQUAL(order("%head"), 1);
        CHECK_EQUAL(order("%exit"), 5);
        CHECK_EQUAL(order("%latch"), 4);
        CHECK_EQUAL(flow.inner[block("%exit")], IR_NONE);
        CHECK_EQUAL(flow.inner[block("%b")], 0);
        ir_arena_release(&arena);
    }
}

static void
test_loops_inside_each_other_have_depths(void)
{
    read_flow("define void @f(i1 %c) {\n"
              "entry:\n  br label %outer\n"
              "outer:\n  br i1 %c, label %inner, label %exit\n"
              "inner:\n  br i1 %c, label %inner, label %mid\n"
              "mid:\n  br i1 %c, label %outer, label %second\n"
              "second:\n  br i1 %c, label %second, label %outer\n"
              "exit:\n  ret void\n"
              "lost:\n  br label %exit\n}\n");
    CHECK_EQUAL(flow.loop_count, 3);
    uint32_t inner = flow.inner[block("%inner")];
    uint32_t outer = flow.inner[block("%mid")];
    uint32_t second = flow.inner[block("%second")];
    CHECK_EQUAL(flow.loops[outer].depth, 1);
    CHECK_EQUAL(flow.loops[inner].depth, 2);
    CHECK_EQUAL(flow.loops[inner].outer, outer);
    CHECK_EQUAL(flow.loops[second].outer, outer);
    CHECK_EQUAL(order("%inner"), 2);
    CHECK_EQUAL(order("%exit"), 5);
    CHECK_EQUAL(order("%lost"), IR_NONE);
    ir_arena_release(&arena);
}

static void
test_switch_with_two_edges_to_one_block_counts_both(void)
{
    read_flow("define void @f(i32 %x) {\n"
              "entry:\n"
              "  switch i32 %x, label %end [\n"
              "    i32 1, label %one\n"
              "    i32 2, label %one\n"
              "  ]\n"
              "one:                    ; preds = %entry, %entry\n  br label %end\n"
              "end:\n  ret void\n}\n");
    CHECK_EQUAL(module.functions[0].blocks[block("%one")].prev_count, 2);
    CHECK_EQUAL(module.functions[0].blocks[0].next_count, 3);
    CHECK_EQUAL(order("%one"), 1);
    CHECK_EQUAL(order("%end"), 2);
    ir_arena_release(&arena);
}

int
main(void)
{
    test_order_of_branches_has_join_last();
    test_order_of_loop_with_exit_in_branch_keeps_loop_together();
    test_loops_inside_each_other_have_depths();
    test_switch_with_two_edges_to_one_block_counts_both();
    return 0;
}
