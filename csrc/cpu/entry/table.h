/* SPDX-License-Identifier: MIT */
/* The dispatch tables: every call of HIP goes through a slot of one.
 *
 * Three symbols stand for one function, for example hipMalloc:
 *
 *   - the *entry*, `hipMalloc` in cpu/entry/memory.c, whose symbol is ha_do_hipMalloc
 *     (abi/generated/hip.h): what the device does;
 *   - the *slot*, `hipMalloc_fn` in one of the tables, which holds the entry until a
 *     tool puts its own function there;
 *   - the *thunk*, whose symbol is hipMalloc: what programs call.  It jumps to whatever
 *     the slot holds at that moment.
 *
 * A function without an entry gets a weak one (cpu/entry/table_lacks.c) that answers
 * hipErrorNotSupported, so that programs that were linked against it load.
 *
 * The tables are published once, before the first call goes through a slot.  Slots may
 * change at any time: they are read and written as relaxed atomics.
 *
 * generated/functions.def has one line a function, ordered by symbol:
 *
 *     HA_CODE(table, slot, symbol, (parameters), (names), version)
 *     HA_VOID(same)
 *     HA_VALUE(type, same)
 *
 * where `version` is 100 * major + minor of the HIP that brought the symbol. */
#ifndef HA_CPU_ENTRY_TABLE_H
#define HA_CPU_ENTRY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/generated/hip_table.h"
#include "cpu/base/export.h"

extern struct HipDispatchTable ha_hip_table;
extern struct HipCompilerDispatchTable ha_compiler_table;
extern struct ha_rest_table ha_rest_table; /* functions with no slot in ROCm's */

typedef void (*ha_address)(void);

struct ha_symbol {
    const char *name;
    ha_address thunk; /* what programs are given */
    ha_address entry; /* what the device does */
    ha_address lacks; /* the entry is this one if the device lacks the function */
    int version;
};

/* All functions in the tables, ordered by name. */
extern const struct ha_symbol ha_symbols[];
extern const size_t ha_symbol_count;

/* Borrowed; NULL if no function has this name. */
const struct ha_symbol *ha_symbol_find(const char *name);

/* False for an entry that only answers hipErrorNotSupported. */
bool ha_symbol_works(const struct ha_symbol *symbol);

/* True once ha_tables_publish has returned; thunks look at it. */
extern _Atomic int ha_tables_published;

/* Runs once, when a function of HIP is first called and before that call: the place
 * where tools learn about the tables.  Any thread; no lock held. */
void ha_tables_publish(void);

/* True on the thread that is in ha_tables_publish: a tool calls HIP in its own
 * initialization. */
bool ha_tables_publishing_here(void);

void ha_tables_after_fork_child(void);

/* Hands the tables to a profiler that has come after the first call of HIP. */
HA_EXPORT void hipadaptPublishTables(void);

/* Records that the device lacks the function; hipErrorNotSupported. */
hipError_t ha_table_lacks(const char *function);

/* 1 if the library exports the function of this name but can do no work for it, else 0.
 * For language bindings. */
HA_EXPORT int hipadaptLacks(const char *function);

#endif
