/* SPDX-License-Identifier: MIT */
/* From device IR to host IR: what the text of the result has, and that damaged input is
 * an error and never a crash. */
/* sources: core cpu/compile/ir_* cpu/compile/re[pw]* cpu/compile/gang
            cpu/compile/check_plain* cpu/compile/proof cpu/machine */
#include <stdint.h>

#include "check.h"
#include "cpu/compile/rewrite.h"
#include "rewrite_fixture.h"

static bool guard; /* of the requests */

static enum ha_status
rewrite(const char *ir, size_t size, struct ha_rewrite_result *result)
{
    const struct ha_rewrite_request request = {
        .ir = ir,
        .ir_size = size,
        .warp_size = 32,
        .name_count = 3,
        .guard = guard,
    };
    return ha_rewrite(&request, result);
}

static unsigned
count(const char *text, const char *part)
{
    unsigned found = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) {
        found++;
    }
    return found;
}

static void
test_result_is_host_ir_with_tables(void)
{
    struct ha_rewrite_result result = {0};

    CHECK_EQUAL(rewrite(fixture, sizeof fixture - 1, &result), HA_OK);
    CHECK_EQUAL(strlen(result.parts[0].ir), result.parts[0].ir_size);
    CHECK_EQUAL(count(result.parts[0].ir, "addrspace("), 0);
    CHECK_EQUAL(count(result.parts[0].ir, "nvptx"), 0);
    CHECK_EQUAL(count(result.parts[0].ir, "ptx_kernel"), 0);
    CHECK_EQUAL(count(result.parts[0].ir, "\n@__ha_image = global "), 1);
    CHECK_EQUAL(count(result.parts[0].ir, "define hidden void @saxpy.ref("), 1);
    CHECK_EQUAL(count(result.parts[0].ir, "define hidden i64 @saxpy.fast("), 1);
    CHECK(strstr(result.parts[0].ir, "Li3EEvPT_1Sbi.ref(") != NULL);
    CHECK(strstr(result.parts[0].ir, "Li3EEvPT_1Sbi.fast(") == NULL);
    CHECK_EQUAL(count(result.parts[0].ir, "\n@__ha_site."), 1);
    ha_rewrite_release(&result);
    CHECK(result.parts[0].ir == NULL && result.lowered == NULL);
}

static void
test_name_expressions_are_lowered(void)
{
    struct ha_rewrite_result result = {0};

    CHECK_EQUAL(rewrite(fixture, sizeof fixture - 1, &result), HA_OK);
    CHECK_EQUAL(result.lowered_count, 3);
    CHECK_TEXT(result.lowered[0], "_Z5mixedIfLi3EEvPT_1Sbi");
    CHECK_TEXT(result.lowered[1], "counter");
    CHECK(result.lowered[2] == NULL);
    ha_rewrite_release(&result);
}

static void
test_same_input_gives_same_output(void)
{
    struct ha_rewrite_result a = {0}, b = {0};

    CHECK_EQUAL(rewrite(fixture, sizeof fixture - 1, &a), HA_OK);
    CHECK_EQUAL(rewrite(fixture, sizeof fixture - 1, &b), HA_OK);
    CHECK_TEXT(a.parts[0].ir, b.parts[0].ir);
    ha_rewrite_release(&a);
    ha_rewrite_release(&b);
}

static void
test_empty_input_gives_empty_tables(void)
{
    struct ha_rewrite_result result = {0};

    CHECK_EQUAL(rewrite("", 0, &result), HA_OK);
    CHECK(strstr(result.parts[0].ir, "@__ha_kernels = internal constant [0 x ") !=
          NULL);
    ha_rewrite_release(&result);
}

/* In a block of exactly its size, so that a sanitizer sees every byte read behind it.
 */
static void
try_damaged(const char *ir, size_t size)
{
    struct ha_rewrite_result result = {0};
    char *copy = malloc(size > 0 ? size : 1);

    CHECK(copy != NULL);
    memcpy(copy, ir, size);
    if (rewrite(copy, size, &result) == HA_OK) {
        ha_rewrite_release(&result);
    } else {
        CHECK(ha_error_text()[0] != '\0' && result.parts[0].ir == NULL);
    }
    free(copy);
}

static enum ha_status
stop_later(void *context)
{
    unsigned *left = context;
    return (*left)-- > 0 ? HA_OK : ha_error_set(HA_ERROR_TIMEOUT, "enough");
}

static void
test_rewrite_ends_when_it_is_told_to(void)
{
    enum { REPEATS = 200 };
    size_t size = sizeof fixture - 1;
    char *text = malloc(size * REPEATS);
    CHECK(text != NULL);
    for (size_t i = 0; i < REPEATS; i++) {
        memcpy(text + i * size, fixture, size);
    }
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned left = turn;
        struct ha_rewrite_result result = {0};
        char **names = NULL;
        const struct ha_rewrite_request request = {
            .ir = text,
            .ir_size = size * REPEATS,
            .warp_size = 32,
            .stop = stop_later,
            .stop_context = &left,
        };
        CHECK_EQUAL(ha_rewrite(&request, &result), HA_ERROR_TIMEOUT);
        CHECK_PART(ha_error_text(), "enough");
        CHECK(result.parts[0].ir == NULL);
        left = turn;
        CHECK_EQUAL(ha_rewrite_names(&request, &names), HA_ERROR_TIMEOUT);
        CHECK(names == NULL);
    }
    free(text);
}

static void
test_cut_input_is_survived_at_every_length(void)
{
    for (size_t size = 0; size < sizeof fixture; size += size % 7 + 1) {
        try_damaged(fixture, size);
    }
}

static void
test_damaged_input_is_survived(void)
{
    static const char bytes[] = "()[]{}<>,@%\"!# \n*=\0x0";
    static char text[sizeof fixture];
    uint64_t state = 88172645463325252u;

    for (int round = 0; round < 1500; round++) {
        memcpy(text, fixture, sizeof fixture);
        for (int change = 0; change < 1 + round % 4; change++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text[state % (sizeof fixture - 1)] =
                bytes[(state >> 40) % (sizeof bytes - 1)];
        }
        try_damaged(text, sizeof fixture - 1);
    }
}

static void
test_refusals_name_the_function(void)
{
    static const struct {
        const char *ir, *text;
    } cases[] = {
        {"define ptx_kernel void @k() {\n  call void asm \"nop\", \"\"()\n  ret "
         "void\n}\n",
         "@k contains inline assembly"},
        {"define ptx_kernel void @k() {\n  call void @f()\n  ret void\n}\n"
         "declare void @f()\n",
         "@f is declared but not defined"},
        {"module asm \"nop\"\n", "inline assembly"},
        {"@x = external addrspace(1) global i32\n"
         "define ptx_kernel void @k() {\n"
         "  store i32 1, ptr addrspacecast (ptr addrspace(1) @x to ptr)\n  ret "
         "void\n}\n",
         "@x is declared but not defined"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ha_rewrite_result result = {0};
        CHECK_EQUAL(rewrite(cases[i].ir, strlen(cases[i].ir), &result),
                    HA_ERROR_UNSUPPORTED);
        CHECK(strstr(ha_error_text(), cases[i].text) != NULL);
    }
}

/* Each kind of access, with the bytes that it touches and whether it writes. */
static void
test_guarded_kernel_asks_before_each_access(void)
{
    static const struct {
        const char *access, *question; /* NULL: none */
    } cases[] = {
        {"%x = load i32, ptr %p, align 4", "(ptr %p, i64 4, i32 0)"},
        {"%x = load atomic volatile i64, ptr addrspace(1) %g syncscope(\"agent\") "
         "monotonic, align 8",
         "(ptr %g, i64 8, i32 0)"},
        {"store <3 x float> zeroinitializer, ptr %p, align 4",
         "(ptr %p, i64 12, i32 1)"},
        {"store volatile { i8, i64 } zeroinitializer, ptr %p",
         "(ptr %p, i64 16, i32 1)"},
        {"store i1 true, ptr %p", "(ptr %p, i64 1, i32 1)"},
        {"store ptr %p, ptr %q, align 8", "(ptr %q, i64 8, i32 1)"},
        {"%x = atomicrmw volatile add ptr %p, i32 1 syncscope(\"agent\") monotonic",
         "(ptr %p, i64 4, i32 1)"},
        {"%x = cmpxchg weak ptr %p, i64 0, i64 1 monotonic monotonic",
         "(ptr %p, i64 8, i32 1)"},
        {"call void @llvm.memset.p0.i64(ptr noundef align 4 %p, i8 0, i64 %n, i1 "
         "false)",
         "(ptr %p, i64 %n, i32 1)"},
        {"call void @llvm.memcpy.p0.p1.i64(ptr %p, ptr addrspace(1) %g, i64 24, i1 "
         "false)",
         "(ptr %g, i64 24, i32 0)"},
        {"store i32 1, ptr addrspace(3) %s", NULL},
        {"store i32 1, ptr addrspacecast (ptr addrspace(1) @v to ptr)", NULL},
        {"%x = add i64 %n, 1", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ha_rewrite_result result = {0};
        char ir[1024];
        int size = snprintf(
            ir, sizeof ir,
            "@v = addrspace(1) global i32 0\n"
            "define ptx_kernel void @k(ptr %%p, ptr %%q, ptr addrspace(1) %%g, ptr "
            "addrspace(3) %%s, i64 %%n) {\n  %s\n  ret void\n}\n"
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
            "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n",
            cases[i].access);
        guard = true;
        CHECK_EQUAL(rewrite(ir, (size_t)size, &result), HA_OK);
        guard = false;
        const char *body = strstr(result.parts[0].ir, "void @k.ref(");
        CHECK(body != NULL && strstr(result.parts[0].ir, "@k.fast") == NULL);
        const char *question = strstr(body, "@__ha_rt_access");
        CHECK((question != NULL) == (cases[i].question != NULL));
        if (question != NULL) {
            CHECK(strstr(question, cases[i].question) != NULL);
        }
        ha_rewrite_release(&result);
    }
}

int
main(void)
{
    test_guarded_kernel_asks_before_each_access();
    test_result_is_host_ir_with_tables();
    test_name_expressions_are_lowered();
    test_same_input_gives_same_output();
    test_empty_input_gives_empty_tables();
    test_rewrite_ends_when_it_is_told_to();
    test_cut_input_is_survived_at_every_length();
    test_damaged_input_is_survived();
    guard = true;
    test_cut_input_is_survived_at_every_length();
    test_damaged_input_is_survived();
    guard = false;
    test_refusals_name_the_function();
    return 0;
}
