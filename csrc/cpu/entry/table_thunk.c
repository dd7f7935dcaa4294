/* SPDX-License-Identifier: MIT */
/* The symbols of HIP: each jumps to what its slot holds. */
#undef HA_CPU_ENTRIES /* names are the symbols of HIP here, not the entries */
#include "cpu/entry/table.h"

#include <stdatomic.h>

/* Also names of slots and of symbols here. */
#undef hipGetDeviceProperties
#undef hipChooseDevice

/* One load and one jump through the slot; the first call of all publishes the tables
 * before that. */
#define SLOT(table, slot)                                                              \
    (__builtin_expect(                                                                 \
         atomic_load_explicit(&ha_tables_published, memory_order_acquire) == 0, 0)     \
         ? ha_tables_publish()                                                         \
         : (void)0,                                                                    \
     __atomic_load_n(&ha_##table##_table.slot##_fn, __ATOMIC_RELAXED))

#define HA_CODE(table, slot, name, params, names, version)                             \
    HA_EXPORT hipError_t name params                                                   \
    {                                                                                  \
        return SLOT(table, slot) names;                                                \
    }
#define HA_VOID(table, slot, name, params, names, version)                             \
    HA_EXPORT void name params                                                         \
    {                                                                                  \
        SLOT(table, slot) names;                                                       \
    }
#define HA_VALUE(type, table, slot, name, params, names, version)                      \
    HA_EXPORT type name params                                                         \
    {                                                                                  \
        return SLOT(table, slot) names;                                                \
    }
#include "cpu/entry/generated/functions.def"

#undef HA_CODE
#undef HA_VOID
#undef HA_VALUE

/* The same functions under older names, which mean the oldest layout, and under the C++
 * names that some programs import. */
#define HA_SAME(number, symbol, name)                                                  \
    extern HA_EXPORT __typeof__(name) same_##number __asm__(#symbol)                   \
        __attribute__((alias(#name)));
#include "cpu/base/export.h"
#include "cpu/entry/generated/slots.def"
