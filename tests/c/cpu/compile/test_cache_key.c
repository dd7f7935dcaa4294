/* SPDX-License-Identifier: MIT */
/* Keys of the cache: the same for the same, another for each thing that counts. */
/* sources: core cpu/compile/cache_key cpu/compile/buffer */
#include "check.h"
#include "cpu/compile/cache_key.h"

static struct ha_bytes
key_of(const char *what, const struct ha_toolchain *toolchain, uint32_t warp_size,
       unsigned level)
{
    struct ha_bytes key = {0};
    ha_cache_key_begin(&key, what, toolchain, warp_size, level);
    CHECK(!key.failed);
    return key;
}

static bool
same(struct ha_bytes *a, struct ha_bytes *b)
{
    bool answer = a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
    ha_buffer_release(b);
    return answer;
}

int
main(void)
{
    static const struct ha_machine_level level = {.name = "x86-64-v3"};
    static const struct ha_machine_level higher = {.name = "x86-64-v4"};
    static struct ha_toolchain usual = {
        .triple = "x86_64", .level = &level, .vector_math = 'd'};
    static struct ha_toolchain other[5];
    for (int i = 0; i < 5; i++) {
        other[i] = usual;
    }
    other[0].compiler_id[31] = 1;
    other[1].device_id[0] = 1;
    other[2].triple = "aarch64";
    other[3].level = &higher;
    other[4].vector_math = 0;

    CHECK(unsetenv("HIPADAPT_CPU_GUARD") == 0);
    struct ha_bytes key = key_of("kernel", &usual, 32, 3);
    struct ha_bytes again = key_of("kernel", &usual, 32, 3);
    CHECK(same(&key, &again));
    struct ha_bytes changed[] = {
        key_of("link", &usual, 32, 3),      key_of("kernel", &usual, 64, 3),
        key_of("kernel", &usual, 32, 0),    key_of("kernel", &other[0], 32, 3),
        key_of("kernel", &other[1], 32, 3), key_of("kernel", &other[2], 32, 3),
        key_of("kernel", &other[3], 32, 3), key_of("kernel", &other[4], 32, 3),
    };
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        CHECK(!same(&key, &changed[i]));
    }
    CHECK(setenv("HIPADAPT_CPU_GUARD", "1", 1) == 0);
    struct ha_bytes guarded = key_of("kernel", &usual, 32, 3);
    CHECK(!same(&key, &guarded));
    ha_buffer_release(&key);
    return 0;
}
