/* SPDX-License-Identifier: MIT */
/* A weak entry for each function; the linker prefers the real one where it exists. It
 * answers hipErrorNotSupported, or NULL, 0 or nothing where HIP has no room for a code.
 */
#include "cpu/entry/table.h"

#include <string.h>

/* The parameters are those of the function and never looked at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define WEAK(name) __attribute__((weak, alias("lacks_" #name)))

#define HA_CODE(table, slot, name, params, names, version)                             \
    static hipError_t lacks_##name params                                              \
    {                                                                                  \
        return ha_table_lacks(#name);                                                  \
    }                                                                                  \
    hipError_t name params WEAK(name);
#define HA_VOID(table, slot, name, params, names, version)                             \
    static void lacks_##name params                                                    \
    {                                                                                  \
        (void)ha_table_lacks(#name);                                                   \
    }                                                                                  \
    void name params WEAK(name);
#define HA_VALUE(type, table, slot, name, params, names, version)                      \
    static type lacks_##name params                                                    \
    {                                                                                  \
        type zero;                                                                     \
        memset(&zero, 0, sizeof zero);                                                 \
        (void)ha_table_lacks(#name);                                                   \
        return zero;                                                                   \
    }                                                                                  \
    type name params WEAK(name);
#include "cpu/entry/generated/functions.def"
#undef HA_CODE
#undef HA_VOID
#undef HA_VALUE

/* The thunk has the name that is the entry's here, so its address goes by another. */
#define HA_CODE(table, slot, name, params, names, version)                             \
    extern void thunk_##name(void) __asm__(#name);
#define HA_VOID HA_CODE
#define HA_VALUE(type, table, slot, name, params, names, version)                      \
    extern void thunk_##name(void) __asm__(#name);
#include "cpu/entry/generated/functions.def"
#undef HA_CODE
#undef HA_VOID
#undef HA_VALUE

#define ROW(name, version)                                                             \
    {#name, thunk_##name, (ha_address)name, (ha_address)lacks_##name, version},
#define HA_CODE(table, slot, name, params, names, version) ROW(name, version)
#define HA_VOID(table, slot, name, params, names, version) ROW(name, version)
#define HA_VALUE(type, table, slot, name, params, names, version) ROW(name, version)
const struct ha_symbol ha_symbols[] = {
#include "cpu/entry/generated/functions.def"
};
const size_t ha_symbol_count = sizeof ha_symbols / sizeof ha_symbols[0];
