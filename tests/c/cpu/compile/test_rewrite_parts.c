/* SPDX-License-Identifier: MIT */
/* Host IR in several parts: everything is defined once, and what one part has of
 * another is declared. */
/* sources: core cpu/compile/ir_* cpu/compile/re[pw]* cpu/compile/gang
            cpu/compile/check_plain* cpu/compile/proof cpu/machine */
#include <stdarg.h>
#include <stdbool.h>

#include "check.h"
#include "cpu/compile/rewrite.h"

enum { KERNELS = 24, EDITED = 5 };

static char text[64 << 10];
static struct ha_rewrite_result result;

__attribute__((format(printf, 1, 2))) static void
append(const char *format, ...)
{
    size_t size = strlen(text);
    va_list values;

    va_start(values, format);
    CHECK(vsnprintf(text + size, sizeof text - size, format, values) <
          (int)(sizeof text - size));
    va_end(values);
}

/* A kernel that adds what `line` defines as %v to the variable of the module. */
static void
add_kernel(const char *name, int number, const char *line)
{
    append("define ptx_kernel void @%s%d(ptr %%p, i32 %%n) {\n"
           "  %%x = tail call i32 @__ha_thread_x()\n"
           "  %%c = icmp slt i32 %%x, %%n\n"
           "  br i1 %%c, label %%then, label %%end\n"
           "then:\n%s"
           "  %%l = load i32, ptr addrspace(1) @limit\n"
           "  %%s = add i32 %%v, %%l\n"
           "  store i32 %%s, ptr %%p\n"
           "  br label %%end\n"
           "end:\n  ret void\n}\n",
           name, number, line);
}

static void
make_text(bool edited)
{
    int node = edited ? 40 : 7;
    text[0] = '\0';
    append("@limit = addrspace(1) externally_initialized global i32 3, align 4\n"
           "@unused = private unnamed_addr constant [1 x i32] [i32 4]\n"
           "@table = private unnamed_addr constant [2 x i32] [i32 4, i32 5]\n"
           "@calls = private unnamed_addr constant [1 x ptr] [ptr @shared]\n"
           "declare i32 @__ha_thread_x()\n"
           "define i32 @shared(i32 %%x) noinline {\n  ret i32 %%x\n}\n");
    for (int i = 0; i < KERNELS; i++) {
        char line[160];
        (void)snprintf(line, sizeof line,
                       "  %%t = load i32, ptr %s, !tbaa !%d\n"
                       "  %%v = add i32 %%t, %d\n",
                       edited ? "@.str.5" : "@.str.4", node, edited && i == EDITED);
        add_kernel("plain", i, line);
    }
    append("@.str.%d = private unnamed_addr constant [2 x i32] [i32 6, i32 7]\n"
           "!%d = !{!%d, !%d, i64 0}\n!%d = !{!\"int\"}\n",
           edited ? 5 : 4, node, node + 1, node + 1, node + 1);
    add_kernel("calls", 0, "  %v = call i32 @shared(i32 %x)\n");
    add_kernel("names", 0,
               "  %f = load ptr, ptr @calls\n"
               "  %t = load i32, ptr @table\n"
               "  %g = ptrtoint ptr %f to i32\n"
               "  %v = add i32 %t, %g\n");
    add_kernel("holds", 0, "  %v = ptrtoint ptr @plain0 to i32\n");
}

static void
rewrite(uint32_t most)
{
    const struct ha_rewrite_request request = {
        .ir = text, .ir_size = strlen(text), .warp_size = 32, .parts_most = most};

    ha_rewrite_release(&result);
    if (ha_rewrite(&request, &result) != HA_OK) {
        fprintf(stderr, "failed: %s\n", ha_error_text());
        exit(1);
    }
}

/* In which parts a text stands, a bit each. */
static uint32_t
parts_with(const char *part)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < result.part_count; i++) {
        CHECK_EQUAL(strlen(result.parts[i].ir), result.parts[i].ir_size);
        found |= (strstr(result.parts[i].ir, part) != NULL ? 1u : 0) << i;
    }
    return found;
}

static void
test_each_form_is_in_one_part(void)
{
    static const char *const forms[] = {"ref", "fast"};
    rewrite(4);
    CHECK_EQUAL(result.part_count, 3);
    for (int i = 0; i < KERNELS; i++) {
        for (int k = 0; k < 2; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "define hidden %s @plain%d.%s(",
                           k == 0 ? "void" : "i64", i, forms[k]);
            CHECK_EQUAL(__builtin_popcount(parts_with(name)), 1);
            bool first = parts_with(name) == 1;
            (void)snprintf(name, sizeof name, "declare hidden void @plain%d.%s(", i,
                           forms[k]);
            /* The table names it. */
            CHECK_EQUAL(parts_with(name) & 1, !first);
        }
    }
    CHECK_EQUAL(parts_with("define hidden i64 @plain"), 6);
}

static void
test_first_part_has_tables_and_variables(void)
{
    rewrite(4);
    CHECK_EQUAL(parts_with("@__ha_image = global"), 1);
    CHECK_EQUAL(parts_with("@limit = hidden global i32 3"), 1);
    CHECK_EQUAL(parts_with("@limit = external hidden global i32\n"), 6);
    CHECK_EQUAL(parts_with("@__ha_rt_self"), 0); /* not needed */
    CHECK_EQUAL(parts_with("unnamed_addr constant [2 x i32] [i32 4, i32 5]"), 1);
    CHECK_EQUAL(parts_with("@unused"), 0);
    CHECK_EQUAL(parts_with("constant [2 x i32] [i32 6, i32 7]"), 6);
}

static void
test_what_shares_functions_stays_with_them(void)
{
    rewrite(4);
    CHECK_EQUAL(parts_with("define internal i32 @shared("), 1);
    CHECK_EQUAL(parts_with("define hidden void @calls0.ref("), 1);
    CHECK_EQUAL(parts_with("define hidden void @names0.ref("), 1);
    CHECK_EQUAL(parts_with("define hidden void @holds0.ref("), 1);
    CHECK_EQUAL(parts_with("define internal void @plain0.held("), 1);
}

/* Numbers of constants and metadata go on from kernel to kernel in what the front end
 * writes, and are new behind an edit. */
static void
test_an_edit_changes_the_part_of_its_kernel(void)
{
    static char before[HA_REWRITE_PARTS_MAX][100 << 10];
    char name[64];
    uint32_t changed = 0;

    rewrite(HA_REWRITE_PARTS_MAX);
    uint32_t count = result.part_count;
    CHECK(count > 8);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(result.parts[i].ir_size < sizeof before[i]);
        (void)strcpy(before[i], result.parts[i].ir);
    }
    make_text(true);
    rewrite(HA_REWRITE_PARTS_MAX);
    CHECK_EQUAL(result.part_count, count);
    for (uint32_t i = 0; i < count; i++) {
        changed |= (strcmp(before[i], result.parts[i].ir) != 0 ? 1u : 0) << i;
    }
    (void)snprintf(name, sizeof name, "define hidden i64 @plain%d.fast(", EDITED);
    CHECK_EQUAL(changed, parts_with(name));
    CHECK_EQUAL(__builtin_popcount(changed), 1);
    make_text(false);
}

static void
test_little_text_and_one_part_stay_whole(void)
{
    rewrite(1);
    CHECK_EQUAL(result.part_count, 1);
    CHECK_EQUAL(parts_with("declare hidden"), 0);

    text[0] = '\0';
    add_kernel("plain", 0, "  %v = add i32 %x, 1\n");
    append("@limit = addrspace(1) global i32 3\ndeclare i32 @__ha_thread_x()\n");
    rewrite(4);
    CHECK_EQUAL(result.part_count, 1);
}

int
main(void)
{
    make_text(false);
    RUN(test_each_form_is_in_one_part);
    RUN(test_first_part_has_tables_and_variables);
    RUN(test_what_shares_functions_stays_with_them);
    RUN(test_an_edit_changes_the_part_of_its_kernel);
    RUN(test_little_text_and_one_part_stay_whole);
    ha_rewrite_release(&result);
    return 0;
}
