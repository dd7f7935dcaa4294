/* SPDX-License-Identifier: MIT */
#include "cpu/compile/target_cpu.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/env.h"

#if defined(__x86_64__)

/* In rising order: each has all that the one before has. */
static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
#define LEVELS_TEXT "x86-64, x86-64-v2, x86-64-v3, x86-64-v4"
#define FIRST_WITH_AVX2 2u

static bool
has(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

/* The micro-architecture levels of the psABI, with what the kernel saves. */
static uint32_t
detect_level(void)
{
    unsigned a, b, c, d, features, extended = 0, structured = 0, saved = 0;
    if (!__get_cpuid(1, &a, &b, &features, &d)) {
        return 0;
    }
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) {
        extended = c;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        structured = b;
    }
    if (has(features, bit_OSXSAVE)) {
        unsigned high;
        __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    }
    if (!has(features, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT |
                           bit_CMPXCHG16B) ||
        !has(extended, bit_LAHF_LM)) {
        return 0;
    }
    if (!has(saved, 0x06) || !has(features, bit_AVX | bit_F16C | bit_FMA | bit_MOVBE) ||
        !has(structured, bit_AVX2 | bit_BMI | bit_BMI2) || !has(extended, bit_LZCNT)) {
        return 1;
    }
    if (!has(saved, 0xe6) ||
        !has(structured,
             bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL)) {
        return 2;
    }
    return 3;
}

#elif defined(__aarch64__)

static const char *const levels[] = {"generic"};
#define LEVELS_TEXT "generic"
#define FIRST_WITH_AVX2 0u

static uint32_t
detect_level(void)
{
    return 0;
}

#else
#error "the CPU device is written for x86-64 and aarch64"
#endif

#define LEVEL_COUNT ((uint32_t)(sizeof levels / sizeof levels[0]))

static uint32_t processor_level; /* since `detected` */
static pthread_once_t detected = PTHREAD_ONCE_INIT;

static void
detect(void)
{
    processor_level = detect_level();
}

/* LEVEL_COUNT if there is none of this name. */
static uint32_t
level_of(const char *name)
{
    uint32_t level = 0;
    while (level < LEVEL_COUNT && strcmp(levels[level], name) != 0) {
        level++;
    }
    return level;
}

enum ha_status
ha_target_cpu_find(const char **name)
{
    (void)pthread_once(&detected, detect);
    const char *wanted = ha_env(HA_ENV_CPU_TARGET);
    uint32_t level = processor_level;
    if (strcmp(wanted, "native") != 0) {
        level = level_of(wanted);
    }
    if (level > processor_level) {
        return ha_error_set(HA_ERROR_INVALID,
                            "HIPADAPT_CPU_TARGET must be native or one of " LEVELS_TEXT
                            " up to this processor's own, %s; it is '%.64s'",
                            levels[processor_level], wanted);
    }
    *name = levels[level];
    return HA_OK;
}

bool
ha_target_cpu_has_vector_math(const char *name)
{
    uint32_t level = level_of(name);
    return level >= FIRST_WITH_AVX2 && level < LEVEL_COUNT;
}

bool
ha_target_cpu_fuses(const char *name)
{
    return ha_target_cpu_has_vector_math(name); /* FMA came with AVX2 */
}

uint32_t
ha_target_cpu_gang_width(const char *name)
{
    return strcmp(name, "x86-64-v4") == 0 ? 16 : 8;
}
