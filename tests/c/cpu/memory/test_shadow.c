/* SPDX-License-Identifier: MIT */
/* Which bytes have a value: what is filled, copied, computed and freed. */
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/memory/shadow.h"
#include "cpu/memory/shadow_origin.h"
#include "cpu_support.h"

#define BASE ((uintptr_t)0x10000)
#define BYTES ((uint64_t)100)
#define ORIGIN 77u

static bool
lacks(uintptr_t at)
{
    struct ha_shadow shadow;
    return ha_shadow_find(at, &shadow) && shadow.bits[at - shadow.base] != 0;
}

static uint32_t
origin_of(uintptr_t at)
{
    struct ha_shadow shadow;
    uint32_t origin;
    CHECK(ha_shadow_find(at, &shadow));
    memcpy(&origin, shadow.origins + ((at - shadow.base) & ~(uintptr_t)3),
           sizeof origin);
    return origin;
}

/* How many of the bytes lack a value. */
static unsigned
count(uintptr_t at, uint64_t bytes)
{
    unsigned found = 0;
    for (uint64_t i = 0; i < bytes; i++) {
        found += lacks(at + i);
    }
    return found;
}

static void
test_new_memory_lacks_values_to_the_byte(void)
{
    CHECK(!ha_shadow_any());
    ha_shadow_add(BASE, BYTES, ORIGIN);
    CHECK(ha_shadow_any());
    CHECK(count(BASE, BYTES) == BYTES);
    CHECK(!lacks(BASE - 1) && !lacks(BASE + BYTES));
    CHECK(origin_of(BASE) == ORIGIN && origin_of(BASE + BYTES - 1) == ORIGIN);
    ha_shadow_remove(BASE);
    CHECK(!ha_shadow_any() && !lacks(BASE));
}

static void
test_writes_may_run_over_several_allocations(void)
{
    ha_shadow_add(BASE, BYTES, ORIGIN);
    ha_shadow_add(BASE + 200, BYTES, ORIGIN);
    ha_shadow_written(BASE + 10, 200);
    CHECK(count(BASE, BYTES) == 10);
    CHECK(count(BASE + 200, BYTES) == 90 && !lacks(BASE + 209) && lacks(BASE + 210));
    ha_shadow_lost(BASE + 50, 3, ORIGIN + 1);
    CHECK(count(BASE, BYTES) == 13 && origin_of(BASE + 50) == ORIGIN + 1);
    ha_shadow_forget();
    CHECK(count(BASE, 300) == 0);
    ha_shadow_remove(BASE);
    ha_shadow_remove(BASE + 200);
}

static void
test_copies_bring_the_lack_along(void)
{
    ha_shadow_add(BASE, BYTES, ORIGIN);
    ha_shadow_add(BASE + 200, BYTES, ORIGIN + 1);
    ha_shadow_written(BASE + 40, 20);
    ha_shadow_written(BASE + 200, BYTES);
    ha_shadow_copied(BASE + 203, BASE + 30, 40);
    CHECK(count(BASE + 200, BYTES) == 20);
    CHECK(lacks(BASE + 203) && !lacks(BASE + 213) && lacks(BASE + 233));
    CHECK(origin_of(BASE + 204) == ORIGIN);
    /* Other memory has values; bytes may overlap. */
    ha_shadow_copied(BASE + 200, 16, BYTES);
    CHECK(count(BASE + 200, BYTES) == 0);
    ha_shadow_copied(BASE + 50, BASE + 40, 30);
    CHECK(count(BASE, BYTES) == 40 + 10 + 20);
    ha_shadow_remove(BASE);
    ha_shadow_remove(BASE + 200);
}

static void
test_only_what_was_computed_is_told(void)
{
    struct ha_shadow shadow;
    uint32_t origin = 0;
    ha_shadow_add(BASE, BYTES, ORIGIN);
    CHECK(!ha_shadow_computed(BASE, BYTES, &origin));
    CHECK(ha_shadow_find(BASE, &shadow));
    ha_shadow_mark(&shadow, BASE + 8, 4);
    CHECK(!ha_shadow_computed(BASE, 8, &origin));
    CHECK(ha_shadow_computed(BASE, BYTES, &origin));
    CHECK(origin == (ORIGIN | HA_SHADOW_COMPUTED_BIT));
    ha_shadow_written(BASE + 8, 4);
    CHECK(!ha_shadow_computed(BASE, BYTES, &origin));
    ha_shadow_remove(BASE);
}

static void
test_new_memory_takes_the_place_of_old(void)
{
    uint64_t changes = ha_shadow_changes();
    for (unsigned i = 0; i < 200; i++) {
        ha_shadow_add(BASE + 1000 * (uintptr_t)(199 - i), BYTES, ORIGIN);
    }
    CHECK(ha_shadow_changes() != changes);
    ha_shadow_add(BASE + 50, 100000, 0);
    CHECK(count(BASE, 1000) == 0 && !lacks(BASE + 99000) && lacks(BASE + 101000));
    for (unsigned i = 0; i < 200; i++) {
        ha_shadow_remove(BASE + 1000 * (uintptr_t)i);
    }
    ha_shadow_remove(BASE + 50);
    CHECK(!ha_shadow_any());
}

static void
test_origins_are_told(void)
{
    struct ha_check_memory memory;
    uint32_t first = ha_origin_variable("count", 4);
    CHECK(first >= HA_ORIGIN_FIRST && ha_origin_variable("count", 4) == first);
    CHECK(ha_origin_variable("count", 8) != first);
    CHECK(ha_origin_variable("coun", 4) != first);
    ha_origin_tell(first | HA_SHADOW_COMPUTED_BIT, &memory);
    CHECK(memory.space == HA_SPACE_LOCAL && strcmp(memory.name, "count") == 0);
    ha_origin_tell(HA_ORIGIN_SHARED, &memory);
    CHECK(memory.space == HA_SPACE_SHARED && memory.name[0] == '\0');
    ha_origin_tell(1u << 30, &memory);
    CHECK(memory.space == HA_SPACE_UNKNOWN);
}

int
main(void)
{
    test_new_memory_lacks_values_to_the_byte();
    test_writes_may_run_over_several_allocations();
    test_copies_bring_the_lack_along();
    test_only_what_was_computed_is_told();
    test_new_memory_takes_the_place_of_old();
    test_origins_are_told();
    return 0;
}
