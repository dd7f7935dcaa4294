/* SPDX-License-Identifier: MIT */
/* printf, assert, malloc, free and clock of kernels. */
/* sources: core/dtype core/env core/log core/status cpu/base/check_kinds cpu/machine
   cpu/exec */
#include "exec_support.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/exec/heap.h"
#include "cpu/exec/print.h"

/* Formats with ours and compares with libc's. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static size_t
ours(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t length = ha_print_format(text, size, format, args);
    va_end(args);
    return length;
}

#define SAME(...)                                                                      \
    do {                                                                               \
        char text_[3000], model_[3000];                                                \
        size_t length_ = ours(text_, sizeof text_, __VA_ARGS__);                       \
        CHECK_EQUAL(length_, snprintf(model_, sizeof model_, __VA_ARGS__));            \
        if (strcmp(text_, model_) != 0)                                                \
            printf("got '%s', not '%s'\n", text_, model_);                             \
        CHECK(strcmp(text_, model_) == 0);                                             \
    } while (0)

#define GIVES(want, ...)                                                               \
    do {                                                                               \
        char text_[3000];                                                              \
        size_t length_ = ours(text_, sizeof text_, __VA_ARGS__);                       \
        if (strcmp(text_, want) != 0)                                                  \
            printf("got '%s', not '%s'\n", text_, want);                               \
        CHECK(strcmp(text_, want) == 0);                                               \
        CHECK_EQUAL(length_, strlen(want));                                            \
    } while (0)

static void
test_numbers_are_formatted_as_in_c(void)
{
    static const char *const formats[] = {
        "%d",     "%5d",  "%-5d|", "%05d",  "%+d",   "% d",  "%.3d", "%8.3d",
        "%i",     "%u",   "%o",    "%#o",   "%x",    "%#x",  "%X",   "%#10X",
        "%-#10x", "%08x", "%c",    "%5c|",  "%-5c|", "%hhd", "%hd",  "%hhu",
        "%hu",    "%hhx", "%.0d",  "%+.5i", "%1$%%", "%%"};
    static const int values[] = {0,   1,    -1,    65,         127,
                                 128, -129, 40000, 2147483647, -2147483647 - 1};
    for (size_t f = 0; f + 2 < sizeof formats / sizeof formats[0]; f++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            SAME(formats[f], values[v]);
        }
    }
    static const char *const wide[] = {"%ld",  "%lld", "%zu", "%jd", "%td",  "%lu",
                                       "%llx", "%#lo", "%lX", "%p",  "%20p|"};
    for (size_t f = 0; f < sizeof wide / sizeof wide[0]; f++) {
        for (int shift = 0; shift < 64; shift += 7) {
            SAME(wide[f], (long long)((uint64_t)0xfedcba9876543210u >> shift));
        }
    }
    SAME("%*d|%-*d|%.*d|%*.*f", 7, 42, 7, 42, 5, 42, 10, 3, 3.14159);
    SAME("%*d|", -7, 42);
    SAME("%.*f|", -1, 2.5);
    SAME("100%% %d%%", 5);
}

static void
test_floats_are_formatted_as_in_c(void)
{
    static const char *const formats[] = {
        "%f", "%.0f",    "%10.3f", "%-10.3f|", "%+f",   "%e", "%.10e",
        "%E", "%g",      "%#g",    "%.17g",    "%G",    "%a", "%.3A",
        "%F", "%010.2f", "% f",    "%lf",      "%.400f"};
    static const double values[] = {
        0.0,     -0.0,   1.0,       -2.5, 1e300,
        1.0 / 3, 1e-310, 12345.678, 1e22, 1.7976931348623157e308};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            SAME(formats[f], values[v]);
        }
    }
    SAME("%f %g %e", __builtin_inf(), -__builtin_inf(), __builtin_nan(""));
    GIVES("2.500000", "%Lf", 2.5); /* long double is a double on a device */
}

static void
test_strings_are_read_with_care(void)
{
    SAME("%s|%10s|%-10s|%.2s|%.*s", "abc", "abc", "abc", "abc", 1, "abc");
    GIVES("(null)", "%s", (char *)NULL);
    GIVES("(bad address 0x10)", "%s", (char *)16);
    GIVES("(bad address 0xdead00000000)|7", "%s|%d", (char *)0xdead00000000, 7);
    long page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + page, (size_t)page, PROT_NONE) == 0);
    memcpy(pages + page - 4, "tail", 4);
    GIVES("tail", "%s", pages + page - 4); /* never ended: as far as it can be read */
    memcpy(pages + page - 4, "end", 4);
    GIVES("end", "%s", pages + page - 4);
    munmap(pages, (size_t)page * 2);
    static char big[10000];
    memset(big, 'x', sizeof big - 1);
    char text[20000];
    CHECK_EQUAL(ours(text, sizeof text, "%s", big), 4095); /* the limit of one string */
    CHECK_EQUAL(ours(text, sizeof text, big), sizeof big - 1);
    CHECK_EQUAL(ours(text, 5, "%s", "abcdefgh"), 8);
    CHECK(strcmp(text, "abcd") == 0);
    GIVES("(wide string)", "%ls", L"abc");
}

static void
test_dangerous_formats_are_harmless(void)
{
    long target = 77;
    GIVES("a%nb3", "a%nb%d", &target, 3);
    CHECK_EQUAL(target, 77);
    GIVES("%k 5", "%k %d", 5);
    GIVES("%", "%");
    GIVES("%5", "%5");
    GIVES("(bad format (nil))\n", NULL);
    GIVES("(bad format 0x8)\n", (const char *)8);
    char text[3000];
    CHECK_EQUAL(ours(text, sizeof text, "%999999999999d", 1), 1000);
    CHECK_EQUAL(ours(text, sizeof text, "%.2147483647f", 1.0), 1002);
    CHECK_EQUAL(ours(text, sizeof text, "%*d", -2147483647 - 1, 1), 1000);
}

/* ---- in kernels ---- */

static char captured[4 << 20];

/* What `body` prints to `stream`. */
static size_t
capture(FILE *stream, void (*body)(void))
{
    fflush(stream);
    FILE *file = tmpfile();
    int saved = dup(fileno(stream));
    CHECK(file && saved >= 0);
    CHECK(dup2(fileno(file), fileno(stream)) >= 0);
    body();
    fflush(stream);
    CHECK(dup2(saved, fileno(stream)) >= 0);
    close(saved);
    rewind(file);
    size_t length = fread(captured, 1, sizeof captured - 1, file);
    captured[length] = 0;
    fclose(file);
    return length;
}

KERNEL
hello_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t b = lane->block_idx[0], t = lane->thread_idx[0];
    (void)args;
    int length = RT->print("block %u thread %u %s %.2f %c %lld\n", b, t, "says",
                           t * 0.5, 'x', (long long)-5);
    CHECK(length > 0);
}

static const struct ha_image_kernel hello = {.name = "hello",
                                             .reference = hello_kernel};

static void
run_hello(void)
{
    struct shape shape = shape_1d(10, 20);
    shape.threads = 3;
    run_good(&hello, NULL, &shape);
    ha_exec_flush_print();
}

static void
test_lines_of_many_threads_stay_whole(void)
{
    static char seen[10][20];
    capture(stdout, run_hello);
    int count = 0;
    memset(seen, 0, sizeof seen);
    for (char *line = strtok(captured, "\n"); line;
         line = strtok(NULL, "\n"), count++) {
        unsigned b, t;
        char want[100];
        CHECK(sscanf(line, "block %u thread %u", &b, &t) == 2 && b < 10 && t < 20);
        snprintf(want, sizeof want, "block %u thread %u says %.2f x -5", b, t, t * 0.5);
        CHECK(strcmp(line, want) == 0);
        seen[b][t]++;
    }
    CHECK_EQUAL(count, 200);
    for (int b = 0; b < 10; b++) {
        for (int t = 0; t < 20; t++) {
            CHECK_EQUAL(seen[b][t], 1);
        }
    }
}

KERNEL
flood_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    for (int i = 0; i < 100; i++) {
        RT->print("%06u %04d filler filler filler filler\n", lane->block_idx[0], i);
    }
}

static const struct ha_image_kernel flood = {.name = "flood",
                                             .reference = flood_kernel};

static void
run_flood(void)
{
    struct shape shape = shape_1d(100, 10);
    shape.threads = 2;
    run_good(&flood, NULL, &shape);
    ha_exec_flush_print();
}

static void
test_flood_is_bounded_and_counted(void)
{
    enum { LINE = 6 + 1 + 4 + 28 + 1 };
    size_t length = capture(stdout, run_flood);
    CHECK(length <= HA_PRINT_LIMIT_BYTES + 200);
    char *note = strstr(captured, "hipadapt: printf of kernel 'flood': ");
    CHECK(note != NULL);
    unsigned long long lost = strtoull(note + 36, NULL, 10);
    unsigned long long kept = 0;
    for (char *p = captured; p < note; p++) {
        kept += *p == '\n';
    }
    CHECK_EQUAL(kept + lost, 100 * 10 * 100);
    CHECK_EQUAL(kept, HA_PRINT_LIMIT_BYTES / LINE);
}

KERNEL
long_kernel(void *const *args, struct ha_lane *lane)
{
    const char *text = *(const char **)args[0];
    (void)lane;
    CHECK_EQUAL(RT->print("%s%s\n", text, text), 2 * strlen(text) + 1);
}

static const struct ha_image_kernel longer = {.name = "long", .reference = long_kernel};

static void
run_long(void)
{
    char text[2000];
    char *ptext = text;
    void *args[] = {&ptext};
    struct shape shape = shape_1d(1, 1);
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = 0;
    run_good(&longer, args, &shape);
    ha_exec_flush_print();
}

static void
test_long_lines(void)
{
    CHECK_EQUAL(capture(stdout, run_long), 2 * 1999 + 1);
}

KERNEL
assert_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    if (lane->thread_idx[1] == 2) {
        RT->assert_fail("a[i] == b", "k.hip", 12, "void k(float *)");
    }
}

static const struct ha_image_kernel asserting = {.name = "k",
                                                 .reference = assert_kernel};

static void
run_assert(void)
{
    struct shape shape = shape_1d(1, 4);
    shape.block[1] = 4;
    run_bad(
        &asserting, NULL, &shape, HA_FAULT_ASSERT,
        "kernel 'k': assertion `a[i] == b' failed at line 12 in block (0,0,0) thread "
        "(0,2,0)");
}

static void
test_assert_tells_once(void)
{
    capture(stderr, run_assert);
    CHECK(strcmp(captured,
                 "k.hip:12: void k(float *): Device-side assertion `a[i] == b' "
                 "failed in block (0,0,0) thread (0,2,0).\n") == 0);
}

/* Prints with little stack left: the launch fails, the process does not. */
static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) int
print_deep(int depth)
{
    volatile char frame[256];
    frame[depth % 256] = 1;
    RT->release(RT->alloc(10));
    RT->print("%f", 1.0);
    return depth < 0 ? 0 : print_deep(depth + 1) + frame[depth % 256];
}

KERNEL
deep_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    (void)lane;
    (void)print_deep(0);
}

static const struct ha_image_kernel deep = {.name = "deep", .reference = deep_kernel};

static void
run_deep(void)
{
    struct shape shape = shape_1d(2, 32);
    run_bad(&deep, NULL, &shape, HA_FAULT_STACK, "stack overflow");
    ha_exec_flush_print();
}

static void
test_printing_on_a_full_stack(void)
{
    capture(stdout, run_deep);
}

/* ---- heap ---- */

static void
test_heap_blocks_do_not_overlap(void)
{
    enum { COUNT = 300 };
    unsigned char *blocks[COUNT] = {NULL};
    size_t sizes[COUNT] = {0};
    uint32_t random = 1;
    for (int step = 0; step < 20000; step++) {
        random = random * 1664525u + 1013904223u;
        uint32_t i = (random >> 8) % COUNT;
        if (blocks[i]) {
            for (size_t k = 0; k < sizes[i]; k += 1 + sizes[i] / 16) {
                CHECK_EQUAL(blocks[i][k], (unsigned char)i);
            }
            CHECK(ha_heap_release(0, blocks[i]));
            blocks[i] = NULL;
        } else {
            sizes[i] = (random >> 12) % 5000;
            blocks[i] = ha_heap_alloc(0, sizes[i]);
            CHECK(blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0);
            memset(blocks[i], (int)i, sizes[i]);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK(ha_heap_release(0, blocks[i]));
    }
    void *all =
        ha_heap_alloc(0, HA_HEAP_LIMIT_BYTES); /* everything has come together again */
    CHECK(all != NULL);
    CHECK(ha_heap_alloc(0, 1) == NULL);
    CHECK(!ha_heap_set_limit(0, 1 << 20));
    CHECK(ha_heap_release(0, all));
    CHECK(!ha_heap_release(0, all));
    CHECK(!ha_heap_release(0, (char *)all + 64));
    CHECK(!ha_heap_release(0, &all));
    CHECK(ha_heap_alloc(0, UINT64_MAX) == NULL);
    ha_heap_reset(0);
    CHECK(ha_heap_set_limit(0, 1 << 20));
    CHECK(ha_heap_alloc(0, (1 << 20) + 1) == NULL);
    CHECK(ha_heap_alloc(0, 1 << 20) != NULL);
    ha_heap_reset(0);
    CHECK(ha_heap_set_limit(0, HA_HEAP_LIMIT_BYTES));
}

KERNEL
heap_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t *bad = *(uint32_t **)args[0];
    uint32_t t = lane->thread_idx[0];
    uint32_t *mine = RT->alloc(400);
    CHECK(mine != NULL);
    for (uint32_t i = 0; i < 100; i++) {
        mine[i] = t;
    }
    RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    for (uint32_t i = 0; i < 100; i++) {
        if (mine[i] != t) {
            (*bad)++;
        }
    }
    RT->release(mine);
    RT->release(NULL);
}

static const struct ha_image_kernel heap = {
    .name = "heap", .reference = heap_kernel, .flags = HA_KERNEL_BLOCK};

static void
test_kernels_share_the_heap(void)
{
    uint32_t bad = 0;
    uint32_t *pbad = &bad;
    void *args[] = {&pbad};
    struct shape shape = shape_1d(50, 200);
    shape.threads = 3;
    run_good(&heap, args, &shape);
    CHECK_EQUAL(bad, 0);
    void *all = ha_heap_alloc(0, HA_HEAP_LIMIT_BYTES);
    CHECK(all != NULL);
    CHECK(ha_heap_release(0, all));
}

KERNEL
bad_free_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    RT->release((char *)lane + 8);
}

static const struct ha_image_kernel bad_free = {.name = "bad_free",
                                                .reference = bad_free_kernel};

static void
test_bad_free_ends_the_launch(void)
{
    struct shape shape = shape_1d(1, 1);
    run_bad(&bad_free, NULL, &shape, HA_FAULT_ADDRESS, "free of an address");
}

KERNEL
clock_kernel(void *const *args, struct ha_lane *lane)
{
    uint64_t *out = *(uint64_t **)args[0];
    (void)lane;
    out[0] = RT->clock();
    out[1] = RT->clock();
}

static const struct ha_image_kernel clocked = {.name = "clock",
                                               .reference = clock_kernel};

static void
test_clock_goes_on(void)
{
    uint64_t out[2] = {0, 0};
    uint64_t *pout = out;
    void *args[] = {&pout};
    struct shape shape = shape_1d(1, 1);
    uint64_t begin = ha_clock_ns();
    run_good(&clocked, args, &shape);
    CHECK(begin <= out[0] && out[0] <= out[1] && out[1] <= ha_clock_ns());
}

int
main(void)
{
    struct shape shape = shape_1d(1, 1);
    uint64_t out[2];
    uint64_t *pout = out;
    void *args[] = {&pout};
    CHECK(ha_exec_init() == 0);
    run_good(&clocked, args, &shape); /* so that the fault handlers are there */
    RUN(test_numbers_are_formatted_as_in_c);
    RUN(test_floats_are_formatted_as_in_c);
    RUN(test_strings_are_read_with_care);
    RUN(test_dangerous_formats_are_harmless);
    RUN(test_lines_of_many_threads_stay_whole);
    RUN(test_flood_is_bounded_and_counted);
    RUN(test_long_lines);
    RUN(test_assert_tells_once);
    RUN(test_printing_on_a_full_stack);
    RUN(test_heap_blocks_do_not_overlap);
    RUN(test_kernels_share_the_heap);
    RUN(test_bad_free_ends_the_launch);
    RUN(test_clock_goes_on);
    ha_exec_thread_exit();
    return 0;
}
