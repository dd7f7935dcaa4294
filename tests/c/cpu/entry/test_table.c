/* SPDX-License-Identifier: MIT */
/* The dispatch tables: every exported function goes through its slot on each call. */
#include "cpu_support.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "core/clock.h"
#include "cpu/base/device.h"
#include "cpu/entry/table.h"

/* A round is shorter than the turn of a thread on a busy core. */
enum { ROUNDS = 1000, ROUND_CALLS = 20000, OVERHEAD_MAX_NS = 2 };

static int spied;
static int published_then;

/* Stands in for any function: looks at nothing that it is given. */
static uintptr_t
spy(void)
{
    spied++;
    published_then = atomic_load(&ha_tables_published);
    return 0;
}

/* Records that are passed by value may come as addresses: each word in a register is
 * one. */
typedef void any_function(void *, void *, void *, void *, void *, void *, void *,
                          void *);
static unsigned char room[4096];

static void
call_any(any_function *function)
{
    function(room, room, room, room, room, room, room, room);
}

struct row {
    const char *name;
    any_function *call;
    ha_address *slot;
};

#define ROW(table, slot, name)                                                         \
    {#name, (any_function *)(void (*)(void))name,                                      \
     (ha_address *)&ha_##table##_table.slot##_fn},
#define HA_CODE(table, slot, name, params, names, version) ROW(table, slot, name)
#define HA_VOID(table, slot, name, params, names, version) ROW(table, slot, name)
#define HA_VALUE(type, table, slot, name, params, names, version) ROW(table, slot, name)
#undef hipGetDeviceProperties
#undef hipChooseDevice
static const struct row rows[] = {
#include "cpu/entry/generated/functions.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static void
test_first_call_publishes_the_tables_before_it_looks_at_them(void)
{
    CHECK(atomic_load(&ha_tables_published) == 0);
    ha_address before = *rows[0].slot;
    *rows[0].slot = (ha_address)spy;

    call_any(rows[0].call);

    CHECK(spied == 1);
    CHECK(published_then == 1);
    *rows[0].slot = before;
}

static void
test_each_function_calls_what_its_slot_holds(void)
{
    CHECK(ROW_COUNT == (int)ha_symbol_count);
    for (int i = 0; i < ROW_COUNT; i++) {
        ha_address before = *rows[i].slot;
        spied = 0;
        *rows[i].slot = (ha_address)spy;
        call_any(rows[i].call);
        *rows[i].slot = before;
        if (spied != 1) {
            fprintf(stderr, "%s does not go through its slot\n", rows[i].name);
            exit(1);
        }
    }
}

static void
test_slots_hold_the_entries_and_no_slot_is_empty(void)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        const struct ha_symbol *symbol = ha_symbol_find(rows[i].name);
        CHECK(symbol != NULL && strcmp(symbol->name, rows[i].name) == 0);
        CHECK(*rows[i].slot != NULL && *rows[i].slot == symbol->entry);
        CHECK(symbol->thunk == (ha_address)rows[i].call);
        CHECK(symbol->thunk != symbol->entry);
    }
    CHECK(ha_symbol_find("hipNoSuchFunction") == NULL);
    CHECK(ha_symbol_find("") == NULL);
}

static void
test_tables_have_the_size_that_they_say(void)
{
    const size_t slots = (sizeof ha_hip_table - sizeof(size_t)) / sizeof(void *);
    CHECK(ha_hip_table.size == sizeof ha_hip_table);
    CHECK(ha_compiler_table.size == 80);
    CHECK(ha_compiler_table.size == sizeof ha_compiler_table);
    CHECK(slots >= 477);
    /* Slots are numbers that tools know: the first, one in the middle, later steps. */
    CHECK(offsetof(struct HipDispatchTable, hipApiName_fn) == 8);
    CHECK(offsetof(struct HipDispatchTable, hipMalloc_fn) == 8 + 8 * 215);
    CHECK(offsetof(struct HipDispatchTable, hipDrvGraphAddMemsetNode_fn) ==
          8 + 8 * 428);
    CHECK(offsetof(struct HipDispatchTable, hipModuleGetFunctionCount_fn) ==
          8 + 8 * 477);
}

static void
test_lacking_function_answers_that_it_is_not_supported(void)
{
    CHECK(hipadaptLacks("hipProfilerStart") == 1);
    CHECK(hipadaptLacks("hipMalloc") == 0);
    CHECK(hipadaptLacks("hipNoSuchFunction") == 0);
    CHECK(hipadaptLacks(NULL) == 0);
    CHECK_HIP(hipProfilerStart(), hipErrorNotSupported);
    CHECK(strstr(hipadaptGetErrorText(), "hipProfilerStart") != NULL);
    CHECK_HIP(hipGetLastError(), hipErrorNotSupported);
}

/* ---- by name ---- */

static void
test_function_by_name_is_the_exported_one(void)
{
    void *address = NULL;
    hipDriverProcAddressQueryResult status;
    hipDriverEntryPointQueryResult found;

    OK(hipGetProcAddress("hipMalloc", &address, 701, 0, &status));
    CHECK(address == (void *)hipMalloc && status == HIP_GET_PROC_ADDRESS_SUCCESS);
    OK(hipGetProcAddress("hipGetDeviceProperties", &address, 600, 0, NULL));
    CHECK(address == (void *)hipGetDevicePropertiesR0600);
    OK(hipGetProcAddress("hipGetDeviceProperties", &address, 599, 0, &status));
    CHECK(address == (void *)hipGetDevicePropertiesR0000);
    CHECK(status == HIP_GET_PROC_ADDRESS_SUCCESS);
    OK(hipGetProcAddress("hipChooseDevice", &address, 500, 0, NULL));
    CHECK(address == (void *)hipChooseDeviceR0000);
    OK(hipGetProcAddress("hipChooseDevice", &address, 701, 0, NULL));
    CHECK(address == (void *)hipChooseDeviceR0600);
    OK(hipGetDriverEntryPoint("hipFree", &address, 0, &found));
    CHECK(address == (void *)hipFree && found == hipDriverEntryPointSuccess);
}

static void
test_function_by_name_is_called_through_its_slot(void)
{
    int (*count)(int *) = NULL;
    int number = -1;
    OK(hipGetProcAddress("hipGetDeviceCount", (void **)&count, 701, 0, NULL));
    __typeof__(ha_hip_table.hipGetDeviceCount_fn) before =
        ha_hip_table.hipGetDeviceCount_fn;
    spied = 0;

    ha_hip_table.hipGetDeviceCount_fn = (__typeof__(before))(ha_address)spy;
    CHECK(count(&number) == 0 && spied == 1 && number == -1);
    ha_hip_table.hipGetDeviceCount_fn = before;

    CHECK(count(&number) == 0 && spied == 1 && number == 2);
}

static void
test_name_that_is_not_there_gives_no_address(void)
{
    char here;
    void *address = &here;
    hipDriverProcAddressQueryResult status;
    hipDriverEntryPointQueryResult found;
    char long_name[300];
    memset(long_name, 'h', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';

    CHECK_HIP(hipGetProcAddress("hipNone", &address, 701, 0, &status),
              hipErrorInvalidValue);
    CHECK(address == NULL && status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK_HIP(hipGetProcAddress("hipProfilerStart", &address, 701, 0, &status),
              hipErrorInvalidValue);
    CHECK(address == NULL && status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK_HIP(hipGetProcAddress(long_name, &address, 701, 2, &status),
              hipErrorInvalidValue);
    CHECK_HIP(
        hipGetProcAddress("hipGetDevicePropertiesR0600", &address, 500, 0, &status),
        hipErrorInvalidValue);
    CHECK(address == NULL && status == HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CHECK_HIP(hipGetProcAddress(NULL, &address, 701, 0, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipGetProcAddress("hipMalloc", NULL, 701, 0, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipGetProcAddress("hipMalloc", &address, 701, 3, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipGetDriverEntryPoint("", &address, 0, &found), hipErrorInvalidValue);
    CHECK(address == NULL && found == hipDriverEntryPointSymbolNotFound);
}

static void
test_per_thread_flag_prefers_the_per_thread_function(void)
{
    void *plain = NULL;
    void *own = NULL;
    if (hipadaptLacks("hipMemcpy_spt")) {
        return; /* then it is not found, as the test above checks */
    }
    OK(hipGetProcAddress("hipMemcpy", &plain, 701, 0, NULL));
    CHECK(plain == (void *)hipMemcpy);
    OK(hipGetProcAddress("hipMemcpy", &own, 701, 2, NULL));
    CHECK(own == (void *)hipMemcpy_spt);
    OK(hipGetProcAddress_spt("hipMemcpy", &own, 701, 0, NULL));
    CHECK(own == (void *)hipMemcpy_spt);
    OK(hipGetProcAddress_spt("hipMemcpy", &own, 701, 1, NULL));
    CHECK(own == (void *)hipMemcpy);
    OK(hipGetDriverEntryPoint_spt("hipMemcpy", &own, 0, NULL));
    CHECK(own == (void *)hipMemcpy_spt);
    OK(hipGetDriverEntryPoint_spt("hipMalloc", &own, 0, NULL));
    CHECK(own == (void *)hipMalloc); /* there is only one */
}

static void
test_names_of_activity_ids(void)
{
    CHECK(strcmp(hipApiName(1), "__hipPopCallConfiguration") == 0);
    CHECK(strcmp(hipApiName(3), "hipArray3DCreate") == 0);
    CHECK(strcmp(hipApiName(0), "unknown") == 0);
    CHECK(strcmp(hipApiName(UINT32_MAX), "unknown") == 0);
}

/* ---- cost ---- */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

static double
call_ns(uintptr_t (*volatile function)(void))
{
    uintptr_t (*call)(void) = function;
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = ha_clock_ns();
        for (int i = 0; i < ROUND_CALLS; i++) {
            call();
            __asm__ volatile("" ::: "memory");
        }
        uint64_t took = ha_clock_ns() - begin;
        best = took < best ? took : best;
    }
    return (double)best / ROUND_CALLS;
}

static uintptr_t
nothing(void)
{
    return 0;
}

static void
test_slot_costs_little(void)
{
    __typeof__(ha_hip_table.hipGetLastError_fn) before =
        ha_hip_table.hipGetLastError_fn;
    ha_hip_table.hipGetLastError_fn = (__typeof__(before))(ha_address)nothing;
    double direct = call_ns(nothing);
    double through = call_ns((uintptr_t (*)(void))(ha_address)hipGetLastError);
    ha_hip_table.hipGetLastError_fn = before;
    printf("a call through its slot costs %.2f ns more\n", through - direct);
#ifdef __OPTIMIZE__
    CHECK(through - direct <= OVERHEAD_MAX_NS);
#endif
}

#endif

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(test_first_call_publishes_the_tables_before_it_looks_at_them);
    RUN(test_each_function_calls_what_its_slot_holds);
    RUN(test_slots_hold_the_entries_and_no_slot_is_empty);
    RUN(test_tables_have_the_size_that_they_say);
    RUN(test_lacking_function_answers_that_it_is_not_supported);
    RUN(test_function_by_name_is_the_exported_one);
    RUN(test_function_by_name_is_called_through_its_slot);
    RUN(test_name_that_is_not_there_gives_no_address);
    RUN(test_per_thread_flag_prefers_the_per_thread_function);
    RUN(test_names_of_activity_ids);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    RUN(test_slot_costs_little);
#endif
    return 0;
}
