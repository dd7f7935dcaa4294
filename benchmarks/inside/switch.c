/* SPDX-License-Identifier: MIT */
/* Nanoseconds per lane switch at a block barrier and per warp call, and per launch.
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

KERNEL
barrier_kernel(void *const *args, struct ha_lane *lane)
{
    uint32_t rounds = *(uint32_t *)args[0];
    (void)lane;
    for (uint32_t i = 0; i < rounds; i++) {
        RT->block(HA_BLOCK_SYNC, 0, 1, 1);
    }
}

KERNEL
shuffle_kernel(void *const *args, struct ha_lane *lane)
{
    static const struct ha_warp_site site = {.order = 1};
    uint32_t rounds = *(uint32_t *)args[0];
    uint64_t value = lane->thread_idx[0];
    for (uint32_t i = 0; i < rounds; i++) {
        value += RT->warp(HA_WARP_SHFL_XOR, &site, 0, value, 1, 32);
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

int
main(void)
{
    struct ha_image_kernel barrier = {
        .name = "barrier", .reference = barrier_kernel, .flags = HA_KERNEL_BLOCK};
    struct ha_image_kernel shuffle = {
        .name = "shuffle", .reference = shuffle_kernel, .flags = HA_KERNEL_WARP};
    CHECK(ha_exec_init() == 0);
    for (uint32_t lanes = 32; lanes <= 1024; lanes *= 2) {
        uint32_t rounds = 4000000 / lanes;
        void *args[] = {&rounds};
        struct shape shape = shape_1d(1, lanes);
        double count = (double)rounds * lanes;
        printf("lanes %4u: barrier %5.2f ns, warp call %5.2f ns\n", lanes,
               best_of(5, &barrier, args, &shape) / count * 1e9,
               best_of(5, &shuffle, args, &shape) / count * 1e9);
    }
    struct ha_image_kernel empty = {
        .name = "empty", .reference = empty_kernel, .fast = empty_fast};
    struct shape one = shape_1d(1, 1);
    double begin = thread_seconds();
    for (int i = 0; i < 100000; i++) {
        run_good(&empty, NULL, &one);
    }
    printf("empty reference launch: %.0f ns\n", (thread_seconds() - begin) * 1e4);
    one.fast = true;
    begin = thread_seconds();
    for (int i = 0; i < 100000; i++) {
        run_good(&empty, NULL, &one);
    }
    printf("empty fast launch: %.0f ns\n", (thread_seconds() - begin) * 1e4);
    struct shape wide = shape_1d(1000, 1024);
    printf("empty lane without barriers: %.2f ns\n",
           best_of(5, &empty, NULL, &wide) / 1024e3 * 1e9);
    empty.flags = HA_KERNEL_BLOCK;
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
    return 0;
}
