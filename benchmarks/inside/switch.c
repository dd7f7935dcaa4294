/* SPDX-License-Identifier: MIT */
/* Nanoseconds per lane switch at a block barrier and per warp call, by how many sites
 * of the kernel lanes wait at in turn; per lane that begins and ends; per launch.
 * Prints a table. */
#include "exec_support.h"

#include <time.h>

static double
thread_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The sites are calls of their own in the kernel's code: a processor that guesses where
 * a lane goes on has to tell them apart. */
#define BARRIER(site) RT->block(HA_BLOCK_SYNC, 0, site, site)
#define SHUFFLE(site)                                                                  \
    value += RT->warp(HA_WARP_SHFL_XOR, &sites[site], 0, value, 1u << (site), 32)

static const struct ha_warp_site sites[] = {
    {.order = 0, .depth = 1, .loop = {1}}, {.order = 1, .depth = 1, .loop = {1}},
    {.order = 2, .depth = 1, .loop = {1}}, {.order = 3, .depth = 1, .loop = {1}},
    {.order = 4, .depth = 1, .loop = {1}},
};

/* args: how often; all calls of the kernel are a multiple of 20. */
KERNEL
barrier_1(void *const *args, struct ha_lane *lane)
{
    (void)lane;
    for (uint32_t i = 0, rounds = *(uint32_t *)args[0]; i < rounds; i++) {
        BARRIER(1);
    }
}

KERNEL
barrier_2(void *const *args, struct ha_lane *lane)
{
    (void)lane;
    for (uint32_t i = 0, rounds = *(uint32_t *)args[0] / 2; i < rounds; i++) {
        BARRIER(1);
        BARRIER(2);
    }
}

KERNEL
barrier_4(void *const *args, struct ha_lane *lane)
{
    (void)lane;
    for (uint32_t i = 0, rounds = *(uint32_t *)args[0] / 4; i < rounds; i++) {
        BARRIER(1);
        BARRIER(2);
        BARRIER(3);
        BARRIER(4);
    }
}

KERNEL
shuffle_1(void *const *args, struct ha_lane *lane)
{
    uint64_t value = lane->thread_idx[0];
    for (uint32_t i = 0, rounds = *(uint32_t *)args[0]; i < rounds; i++) {
        lane->trip[0] = i;
        SHUFFLE(0);
    }
}

KERNEL
shuffle_5(void *const *args, struct ha_lane *lane)
{
    uint64_t value = lane->thread_idx[0];
    for (uint32_t i = 0, rounds = *(uint32_t *)args[0] / 5; i < rounds; i++) {
        lane->trip[0] = i;
        SHUFFLE(0);
        SHUFFLE(1);
        SHUFFLE(2);
        SHUFFLE(3);
        SHUFFLE(4);
    }
}

KERNEL
empty_kernel(void *const *args, struct ha_lane *lane)
{
    (void)args;
    (void)lane;
}

static void
empty_fast(void *const *args, const struct ha_grid *grid, uint64_t first, uint64_t last,
           void *shared)
{
    (void)args;
    (void)grid;
    (void)first;
    (void)last;
    (void)shared;
}

/* args: a, b, c, n.  Tiled matrix product, 16 x 16. */
KERNEL
matmul_kernel(void *const *args, struct ha_lane *lane)
{
    const float *a = *(const float **)args[0];
    const float *b = *(const float **)args[1];
    float *c = *(float **)args[2];
    int n = *(int *)args[3];
    float (*as)[16] = lane->shared;
    float (*bs)[16] = as + 16;
    int tx = (int)lane->thread_idx[0], ty = (int)lane->thread_idx[1];
    int row = (int)lane->block_idx[1] * 16 + ty,
        col = (int)lane->block_idx[0] * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + col];
        RT->block(HA_BLOCK_SYNC, 0, 1, 1);
        for (int k = 0; k < 16; k++) {
            sum += as[ty][k] * bs[k][tx];
        }
        RT->block(HA_BLOCK_SYNC, 0, 2, 2);
    }
    c[row * n + col] = sum;
}

static double
best_of(int tries, const struct ha_image_kernel *kernel, void *const *args,
        const struct shape *shape)
{
    double best = 1e9;
    for (int i = 0; i < tries; i++) {
        double begin = thread_seconds();
        run_good(kernel, args, shape);
        double seconds = thread_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static double
each_ns(ha_kernel_reference_fn *kernel, uint32_t flags, void *const *args,
        const struct shape *shape, double count)
{
    struct ha_image_kernel timed = {
        .name = "timed", .reference = kernel, .flags = flags};
    return best_of(7, &timed, args, shape) / count * 1e9;
}

static void
print_switches(void)
{
    printf("ns a lane        barrier, sites:            warp call, sites:\n"
           "                     1       2       4          1       5\n");
    for (uint32_t lanes = 32; lanes <= 1024; lanes *= 2) {
        uint32_t rounds = 2000000 / lanes / 20 * 20;
        void *args[] = {&rounds};
        struct shape shape = shape_1d(1, lanes);
        double count = (double)rounds * lanes;
        printf("  %4u lanes    %7.2f %7.2f %7.2f    %7.2f %7.2f\n", lanes,
               each_ns(barrier_1, HA_KERNEL_BLOCK, args, &shape, count),
               each_ns(barrier_2, HA_KERNEL_BLOCK, args, &shape, count),
               each_ns(barrier_4, HA_KERNEL_BLOCK, args, &shape, count),
               each_ns(shuffle_1, HA_KERNEL_WARP, args, &shape, count),
               each_ns(shuffle_5, HA_KERNEL_WARP, args, &shape, count));
    }
}

/* A lane that begins and ends, without waiting, and with one barrier and two. */
static void
print_lanes(void)
{
    uint32_t rounds[] = {1, 2};
    void *once[] = {&rounds[0]}, *twice[] = {&rounds[1]};
    struct shape shape = shape_1d(2000, 256);
    double count = 2000.0 * 256;
    double none = each_ns(empty_kernel, 0, NULL, &shape, count);
    double flagged = each_ns(empty_kernel, HA_KERNEL_BLOCK, NULL, &shape, count);
    double one = each_ns(barrier_1, HA_KERNEL_BLOCK, once, &shape, count);
    double two = each_ns(barrier_1, HA_KERNEL_BLOCK, twice, &shape, count);
    printf("lane of a kernel without barriers:          %6.2f ns\n", none);
    printf("lane that does not come to the barrier:     %6.2f ns\n", flagged);
    printf("lane that begins, waits once, ends:         %6.2f ns\n", one);
    printf("lane that begins, ends, without the wait:   %6.2f ns\n", 2 * one - two);
    struct shape small = shape_1d(100000, 1);
    printf("block of one lane, without barriers:        %6.2f ns\n",
           each_ns(empty_kernel, 0, NULL, &small, 100e3));
}

static void
print_launches(void)
{
    struct ha_image_kernel empty = {
        .name = "empty", .reference = empty_kernel, .fast = empty_fast};
    struct shape one = shape_1d(1, 1);
    for (int fast = 0; fast < 2; fast++) {
        one.fast = fast;
        double begin = thread_seconds();
        for (int i = 0; i < 100000; i++) {
            run_good(&empty, NULL, &one);
        }
        printf("empty %s launch: %.0f ns\n", fast ? "fast" : "reference",
               (thread_seconds() - begin) * 1e4);
    }
}

static void
print_matmul(void)
{
    int n = 512;
    size_t bytes = (size_t)n * (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    CHECK(a && b && c);
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(i % 17);
        b[i] = (float)(i % 23);
    }
    void *args[] = {&a, &b, &c, &n};
    struct ha_image_kernel matmul = {.name = "matmul",
                                     .reference = matmul_kernel,
                                     .flags = HA_KERNEL_BLOCK,
                                     .shared_static = 2048};
    struct shape tiles = shape_1d(1, 1);
    tiles.grid[0] = tiles.grid[1] = 32;
    tiles.block[0] = tiles.block[1] = 16;
    printf("matmul 512, 16 x 16 tiles: %.1f ms\n",
           best_of(3, &matmul, args, &tiles) * 1e3);
    free(a);
    free(b);
    free(c);
}

int
main(void)
{
    CHECK(ha_exec_init() == 0);
    print_switches();
    print_lanes();
    print_launches();
    print_matmul();
    return 0;
}
