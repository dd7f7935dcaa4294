/* SPDX-License-Identifier: MIT */
/* HIP entry points: functions by name, and names of functions.
 *
 * Programs get the thunk (cpu/entry/table.h), so that calls through such a pointer go
 * through the tables like any other.  Functions that the device lacks are not found. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/entry/runtime.h"
#include "cpu/entry/table.h"

#define NAME_BYTES 96
#define NEWEST_VERSION 2147483647

/* Flags of the look-up; the two APIs have the same values. */
enum { DEFAULT = 0, LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };

enum outcome { FOUND, NOT_FOUND, TOO_OLD };

/* Names that mean `symbol` since a version, and another symbol before that. */
static const struct {
    const char *name, *symbol, *before;
    int version;
} renamed[] = {
    {"hipGetDeviceProperties", "hipGetDevicePropertiesR0600",
     "hipGetDevicePropertiesR0000", 600},
    {"hipChooseDevice", "hipChooseDeviceR0600", "hipChooseDeviceR0000", 600},
};

static enum outcome
look_up(const char *name, int version, bool per_thread, void **address)
{
    const struct ha_symbol *found = NULL;
    char longer[NAME_BYTES];
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (strcmp(name, renamed[i].name) == 0) {
            name = version < renamed[i].version ? renamed[i].before : renamed[i].symbol;
        }
    }
    int length = snprintf(longer, sizeof longer, "%s_spt", name);
    if (per_thread && length > 0 && (size_t)length < sizeof longer) {
        found = ha_symbol_find(longer);
    }
    if (found == NULL) {
        found = ha_symbol_find(name);
    }
    if (found == NULL || !ha_symbol_works(found)) {
        return NOT_FOUND;
    }
    if (version < found->version) {
        return TOO_OLD;
    }
    *address = (void *)(uintptr_t)found->thunk;
    return FOUND;
}

/* The name that is looked for, and the entry point that looks. */
struct search {
    const char *function; /* HIP's name of the entry point */
    const char *name;
    int version;
    unsigned long long flags;
    bool per_thread; /* the program's default stream is the thread's own */
};

/* `*address` is NULL after any failure to find the function. */
static hipError_t
get_address(const struct search *search, void **address, enum outcome *outcome)
{
    const char *name = search->name;
    unsigned long long flags = search->flags;
    if (name == NULL || address == NULL) {
        return ha_cpu_fail_null(name == NULL ? "symbol" : "the address");
    }
    if (flags > PER_THREAD_STREAM) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%llx", flags);
    }
    *address = NULL;
    *outcome =
        look_up(name, search->version,
                flags == PER_THREAD_STREAM || (flags == DEFAULT && search->per_thread),
                address);
    if (*outcome == FOUND) {
        return hipSuccess;
    }
    return ha_cpu_fail(hipErrorInvalidValue,
                       *outcome == TOO_OLD
                           ? "argument 'symbol': '%s' is not in HIP %d.%d"
                           : "argument 'symbol': the device has no function '%s'",
                       name, search->version / 100, search->version % 100);
}

static hipError_t
proc_address(const struct search *search, void **address,
             hipDriverProcAddressQueryResult *status)
{
    enum outcome outcome = NOT_FOUND;
    hipError_t code = ha_enter_query(search->function);
    if (code == hipSuccess) {
        code = get_address(search, address, &outcome);
        if (status != NULL) {
            *status = outcome == FOUND ? HIP_GET_PROC_ADDRESS_SUCCESS
                      : outcome == NOT_FOUND
                          ? HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                          : HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    return code;
}

static hipError_t
entry_point(const struct search *search, void **address,
            hipDriverEntryPointQueryResult *status)
{
    enum outcome outcome = NOT_FOUND;
    hipError_t code = ha_enter_query(search->function);
    if (code == hipSuccess) {
        code = get_address(search, address, &outcome);
        if (status != NULL) {
            *status = outcome == FOUND ? hipDriverEntryPointSuccess
                                       : hipDriverEntryPointSymbolNotFound;
        }
    }
    return code;
}

HA_EXPORT hipError_t
hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                  hipDriverProcAddressQueryResult *symbolStatus)
{
    const struct search search = {"hipGetProcAddress", symbol, hipVersion, flags,
                                  false};
    return proc_address(&search, pfn, symbolStatus);
}

HA_EXPORT hipError_t
hipGetProcAddress_spt(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                      hipDriverProcAddressQueryResult *symbolStatus)
{
    const struct search search = {"hipGetProcAddress_spt", symbol, hipVersion, flags,
                                  true};
    return proc_address(&search, pfn, symbolStatus);
}

HA_EXPORT hipError_t
hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                       hipDriverEntryPointQueryResult *driverStatus)
{
    const struct search search = {"hipGetDriverEntryPoint", symbol, NEWEST_VERSION,
                                  flags, false};
    return entry_point(&search, funcPtr, driverStatus);
}

HA_EXPORT hipError_t
hipGetDriverEntryPoint_spt(const char *symbol, void **funcPtr, unsigned long long flags,
                           hipDriverEntryPointQueryResult *status)
{
    const struct search search = {"hipGetDriverEntryPoint_spt", symbol, NEWEST_VERSION,
                                  flags, true};
    return entry_point(&search, funcPtr, status);
}

/* By the ids of HIP's activity records, which are older than the tables and have an
 * order of their own. */
HA_EXPORT const char *
hipApiName(uint32_t id)
{
    static const char *const names[] = {
#define HA_ID(number, name) [number] = #name,
#include "cpu/base/export.h"
#include "cpu/entry/generated/slots.def"
    };
    const size_t count = sizeof names / sizeof names[0];
    return id < count && names[id] != NULL ? names[id] : "unknown";
}
