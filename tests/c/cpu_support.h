/* SPDX-License-Identifier: MIT */
/* What the tests of the CPU device's runtime share: checks, and a kernel image that is
 * made at run time from C with the C compiler.  Everything is static: one test, one
 * program. */
#ifndef HA_TESTS_CPU_SUPPORT_H
#define HA_TESTS_CPU_SUPPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/hip.h"
#include "core/clock.h"
#include "core/sha256.h"
#include "cpu/compile/image_file.h"
#include "cpu/entry/runtime.h"

#define UNUSED __attribute__((unused))

/* ThreadSanitizer holds signals back until the thread calls it, which a kernel never
 * does: kernels can't be ended from outside then. */
#if defined(__SANITIZE_THREAD__)
#define CAN_END_KERNELS 0
#else
#define CAN_END_KERNELS 1
#endif

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition,        \
                    hipadaptGetErrorText());                                           \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_HIP(call, want)                                                          \
    do {                                                                               \
        hipError_t got_ = (call);                                                      \
        if (got_ != (want)) {                                                          \
            fprintf(stderr, "%s:%d: %s is %s, not %s (%s)\n", __FILE__, __LINE__,      \
                    #call, hipGetErrorName(got_), hipGetErrorName(want),               \
                    hipadaptGetErrorText());                                           \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define OK(call) CHECK_HIP(call, hipSuccess)

#define RUN(test)                                                                      \
    do {                                                                               \
        test();                                                                        \
        printf("ok %s\n", #test);                                                      \
        fflush(stdout);                                                                \
    } while (0)

/* The kernels of the test image, as C that the rewriter might have written. */
static const char image_source[] =
    "#include <stdint.h>\n"
    "#include \"cpu/base/image.h\"\n"
    "extern struct ha_image __ha_image;\n"
    "static uint64_t index_of(const struct ha_lane *l) {\n"
    "    return (uint64_t)l->block_idx[0] * l->grid->block_dim[0] + l->thread_idx[0]; "
    "}\n"
    "int counter[4] = {7, 8, 9, 10};\n"
    "static void empty_r(void *const *a, struct ha_lane *l) { (void)a; (void)l; }\n"
    "static uint64_t empty_f(void *const *a, const struct ha_grid *g, uint64_t b,\n"
    "    uint64_t e, void *s, void *f) { (void)a; (void)g; (void)b; (void)s; (void)f;\n"
    "    return e; }\n"
    /* add: (int *data, int value, uint64_t n): data[i] += value */
    "static void add_r(void *const *a, struct ha_lane *l) {\n"
    "    int *data = *(int **)a[0]; uint64_t i = index_of(l);\n"
    "    if (i < *(uint64_t *)a[2]) data[i] += *(int *)a[1]; }\n"
    "static uint64_t add_f(void *const *a, const struct ha_grid *g, uint64_t b,\n"
    "    uint64_t e, void *s, void *f) {\n"
    "    int *data = *(int **)a[0]; int v = *(int *)a[1]; (void)s; (void)f;\n"
    "    uint64_t n = *(uint64_t *)a[2], w = g->block_dim[0];\n"
    "    for (uint64_t i = b * w; i < e * w && i < n; i++) data[i] += v;\n"
    "    return e; }\n"
    /* mul: (int *data, int value, uint64_t n): data[i] = data[i] * 31 + value */
    "static void mul_r(void *const *a, struct ha_lane *l) {\n"
    "    int *data = *(int **)a[0]; uint64_t i = index_of(l);\n"
    "    if (i < *(uint64_t *)a[2]) data[i] = (int)((unsigned)data[i] * 31u +\n"
    "        (unsigned)*(int *)a[1]); }\n"
    /* spin: (volatile int *stop): until *stop */
    "static void spin_r(void *const *a, struct ha_lane *l) {\n"
    "    volatile int *stop = *(volatile int **)a[0]; (void)l; while (!*stop) ; }\n"
    /* crash: writes to the zero page */
    "static void crash_r(void *const *a, struct ha_lane *l) { (void)a; (void)l;\n"
    "    *(volatile int *)16 = 1; }\n"
    /* bump: adds 1 to counter[0] */
    "static void bump_r(void *const *a, struct ha_lane *l) { (void)a; (void)l;\n"
    "    __atomic_fetch_add(&counter[0], 1, __ATOMIC_RELAXED); }\n"
    /* odd: (char c, double d, short s, float f, double *out) */
    "static void odd_r(void *const *a, struct ha_lane *l) { (void)l;\n"
    "    double *out = *(double **)a[4]; out[0] = *(char *)a[0]; out[1] = *(double "
    "*)a[1];\n"
    "    out[2] = *(short *)a[2]; out[3] = *(float *)a[3]; }\n"
    /* fail: (int kind, uint64_t address): 0 a bad store, 1 a stack overflow, 2 an
     * integer division by zero and a trap where that is no fault, 3 a trap */
    "static __attribute__((noinline)) int deeper(int depth) {\n"
    "    volatile char room[512]; room[0] = (char)depth;\n"
    "    return deeper(depth + 1) + room[0]; }\n"
    "static void fail_r(void *const *a, struct ha_lane *l) { (void)l;\n"
    "    volatile int zero = 0;\n"
    "    switch (*(int *)a[0]) {\n"
    "    case 0: *(volatile int *)(uintptr_t)*(uint64_t *)a[1] = 1; break;\n"
    "    case 1: zero = deeper(0); break;\n"
    "    case 2: zero = 100 / zero; __builtin_trap();\n"
    "    default: __builtin_trap(); } }\n"
    /* meet: (int *data, int rounds): neighbours exchange values at barriers */
    "static void meet_r(void *const *a, struct ha_lane *l) {\n"
    "    int *data = *(int **)a[0]; volatile int *shared = l->shared;\n"
    "    uint32_t t = l->thread_idx[0], n = l->grid->block_dim[0];\n"
    "    int mine = (int)index_of(l);\n"
    "    for (int i = 0; i < *(int *)a[1]; i++) {\n"
    "        shared[t] = mine;\n"
    "        __ha_image.runtime->block(0, 0, 1, 1);\n"
    "        mine = shared[(t + 1) % n] + 1;\n"
    "        __ha_image.runtime->block(0, 0, 2, 2);\n"
    "    }\n"
    "    data[index_of(l)] = mine; }\n"
    /* part: (int first, int last): lanes from first to last wait elsewhere */
    "static void part_r(void *const *a, struct ha_lane *l) {\n"
    "    int t = (int)l->thread_idx[0];\n"
    "    if (t >= *(int *)a[0] && t <= *(int *)a[1])\n"
    "        __ha_image.runtime->block(0, 0, 11, 1);\n"
    "    else\n"
    "        __ha_image.runtime->block(0, 0, 22, 2); }\n"
    /* grids: (uint64_t *counter, int rounds, int what, int who): all threads of all
     * grids count together, and counter[1] is how often one was ahead; then grid `who`
     * ends (1), fails (2) or waits for ever (3), and the others are at a barrier */
    "static void grids_r(void *const *a, struct ha_lane *l) { (void)l;\n"
    "    const struct ha_image_runtime *rt = __ha_image.runtime;\n"
    "    uint64_t *count = *(uint64_t **)a[0], all = rt->query(4);\n"
    "    int what = (int)rt->query(3) == *(int *)a[3] ? *(int *)a[2] : 0;\n"
    "    for (int r = 1; r <= *(int *)a[1]; r++) {\n"
    "        __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);\n"
    "        rt->block(5, 0, 1, 1);\n"
    "        if (__atomic_load_n(count, __ATOMIC_SEQ_CST) != all * (uint64_t)r)\n"
    "            __atomic_fetch_add(count + 1, 1, __ATOMIC_SEQ_CST);\n"
    "        rt->block(5, 0, 2, 2);\n"
    "    }\n"
    "    if (what == 1) return;\n"
    "    if (what == 2) *(volatile int *)16 = 1;\n"
    "    while (what == 3) rt->pause();\n"
    "    if (*(int *)a[2]) rt->block(5, 0, 3, 3); }\n"
    "static const struct ha_image_arg grids_a[] = "
    "{{8,8,0,1},{4,4,8,0},{4,4,12,0},{4,4,16,0}};\n"
    "static const struct ha_image_arg fail_a[] = {{4,4,0,0},{8,8,8,0}};\n"
    "static const struct ha_image_arg meet_a[] = {{8,8,0,1},{4,4,8,0}};\n"
    "static const struct ha_image_arg part_a[] = {{4,4,0,0},{4,4,4,0}};\n"
    "static const struct ha_image_arg add_a[] = {{8,8,0,1},{4,4,8,0},{8,8,16,0}};\n"
    "static const struct ha_image_arg ptr_a[] = {{8,8,0,1}};\n"
    "static const struct ha_image_arg odd_a[] = "
    "{{1,1,0,0},{8,8,8,0},{2,2,16,0},{4,4,20,0},"
    "{8,8,24,1}};\n"
    "static const struct ha_image_kernel kernels[] = {\n"
    "    {\"empty\", empty_r, empty_f, 0, 0, 0, 0, 1024},\n"
    "    {\"add\", add_r, add_f, add_a, 3, 0, 0, 1024},\n"
    "    {\"mul\", mul_r, 0, add_a, 3, 0, 0, 1024},\n"
    "    {\"spin\", spin_r, 0, ptr_a, 1, 0, 0, 1024},\n"
    "    {\"crash\", crash_r, 0, 0, 0, 0, 0, 1024},\n"
    "    {\"bump\", bump_r, 0, 0, 0, 0, 0, 1024},\n"
    "    {\"odd\", odd_r, 0, odd_a, 5, 0, 1024, 128},\n"
    "    {\"fail\", fail_r, 0, fail_a, 2, 0, 0, 1024},\n"
    "    {\"meet\", meet_r, 0, meet_a, 2, 1, 4096, 1024},\n"
    "    {\"part\", part_r, 0, part_a, 2, 1, 0, 1024},\n"
    "    {\"grids\", grids_r, 0, grids_a, 4, 1, 0, 1024},\n"
    "};\n"
    "static const struct ha_image_variable variables[] = {\n"
    "    {\"counter\", counter, sizeof counter, 0, 0},\n"
    "};\n"
    "__attribute__((visibility(\"default\"))) struct ha_image __ha_image = {\n"
    "    HA_IMAGE_ABI, 32, 0, kernels, variables, 11, 1};\n";

UNUSED static unsigned char *image_bytes; /* owned for the life of the test */
UNUSED static size_t image_size;

/* Makes image_bytes, or skips the test where there is no compiler. */
UNUSED static void
image_make(void)
{
    char folder[] = "/tmp/hipadapt_test_XXXXXX";
    char path[128];
    char command[1024];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/image.c", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(image_source, file) >= 0 && fclose(file) == 0);
    /* This header is tests/c/cpu_support.h: csrc is two folders up. */
    const char *here = __FILE__;
    int length = (int)(strrchr(here, '/') - here);
    snprintf(command, sizeof command,
             "${CC:-cc} -std=gnu11 -O2 -fPIC -shared -I%.*s/../../csrc %s/image.c "
             "-o %s/image.so",
             length, here, folder, folder);
    int status = system(command);
    snprintf(path, sizeof path, "%s/image.so", folder);
    file = status == 0 ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        printf("no C compiler to make a kernel image with\n");
        exit(77);
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    image_bytes = malloc(size + sizeof(struct ha_image_trailer));
    CHECK(image_bytes != NULL && fread(image_bytes, 1, size, file) == size);
    fclose(file);
    struct ha_image_trailer trailer;
    ha_image_file_seal(image_bytes, size, &trailer);
    memcpy(image_bytes + size, &trailer, sizeof trailer);
    image_size = size + sizeof trailer;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

/* A module of the image, and its function `name`. */
UNUSED static hipFunction_t
image_function(hipModule_t *module, const char *name)
{
    hipFunction_t function;
    if (image_bytes == NULL) {
        image_make();
    }
    OK(hipModuleLoadData(module, image_bytes));
    OK(hipModuleGetFunction(&function, *module, name));
    return function;
}

/* A host function that waits until somebody sets gate_open. */
UNUSED static _Atomic int gate_open;

UNUSED static void
gate(void *unused)
{
    (void)unused;
    while (!gate_open) {
        usleep(100);
    }
}

/* What the stream is given from now on waits until gate_open is set. */
UNUSED static void
close_gate(hipStream_t stream)
{
    gate_open = 0;
    OK(hipLaunchHostFunc(stream, gate, NULL));
}

/* `full` where HIPADAPT_SLOW_TESTS is set, else a part of it. */
UNUSED static int
scaled(int full, int part)
{
    const char *slow = getenv("HIPADAPT_SLOW_TESTS");
    bool all = slow != NULL && slow[0] != '\0' && strcmp(slow, "0") != 0;
    return all ? full : full / part;
}

UNUSED static uint32_t
random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
