/* SPDX-License-Identifier: MIT */
/* What the tests of the profiler's library share: a runtime of one table whose
 * functions do nothing, and checks of statuses. */
#ifndef HA_TESTS_ROCPROFILER_SUPPORT_H
#define HA_TESTS_ROCPROFILER_SUPPORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/activity.h"
#include "abi/generated/hip_table.h"
#include "check.h"
#include "rocprofiler/client.h"
#include "rocprofiler/client_end.h"
#include "rocprofiler/client_start.h"
#include "rocprofiler/context.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/register.h"

#define UNUSED __attribute__((unused))

#define CHECK_STATUS(call, want)                                                       \
    do {                                                                               \
        rocprofiler_status_t got_ = (call);                                            \
        if (got_ != ROCPROFILER_STATUS_##want) {                                       \
            fprintf(stderr, "%s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call,    \
                    rocprofiler_get_status_name(got_), #want);                         \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define OK(call) CHECK_STATUS(call, SUCCESS)

/* Each scenario in a process of its own: the library has one beginning and one end. */
#define RUN_ALONE(test)                                                                \
    do {                                                                               \
        fflush(NULL);                                                                  \
        pid_t child_ = fork();                                                         \
        if (child_ == 0) {                                                             \
            test();                                                                    \
            exit(0);                                                                   \
        }                                                                              \
        int status_ = 0;                                                               \
        CHECK(waitpid(child_, &status_, 0) == child_);                                 \
        if (!WIFEXITED(status_) || WEXITSTATUS(status_) != 0) {                        \
            fprintf(stderr, "%s: %s ended with status 0x%x\n", __FILE__, #test,        \
                    (unsigned)status_);                                                \
            exit(1);                                                                   \
        }                                                                              \
        printf("ok %s\n", #test);                                                      \
        fflush(stdout);                                                                \
    } while (0)

/* ---- the runtime ---- */

static UNUSED hipError_t
mock_get_device(int *device)
{
    if (device != NULL) {
        *device = 3;
    }
    return device != NULL ? hipSuccess : hipErrorInvalidValue;
}

static UNUSED hipError_t
mock_malloc(void **memory, size_t bytes)
{
    *memory = (void *)(uintptr_t)bytes;
    return hipSuccess;
}

static struct HipDispatchTable mock_table = {
    .size = sizeof mock_table,
    .hipGetDevice_fn = mock_get_device,
    .hipMalloc_fn = mock_malloc,
};

/* As a thunk of the runtime does. */
static UNUSED hipError_t
get_device(int *device)
{
    __typeof__(&mock_get_device) function =
        __atomic_load_n(&mock_table.hipGetDevice_fn, __ATOMIC_ACQUIRE);
    return function(device);
}

static UNUSED hipError_t
get_memory(void **memory, size_t bytes)
{
    __typeof__(&mock_malloc) function =
        __atomic_load_n(&mock_table.hipMalloc_fn, __ATOMIC_ACQUIRE);
    return function(memory, bytes);
}

static uint32_t
mock_version(void)
{
    return 70200;
}

/* The code of the registration. */
static UNUSED int
mock_register(void)
{
    void *tables[] = {&mock_table};
    struct ha_register_id id;

    return rocprofiler_register_library_api_table("hip", mock_version, 70200, tables, 1,
                                                  &id);
}

enum {
    GET_DEVICE = HA_OP_hipGetDevice,
    GET_MEMORY = HA_OP_hipMalloc,
};

/* ---- a tool whose initialize is `mock_initialize` ---- */

static int (*mock_initialize)(void);
static void (*mock_finalize)(void);
static rocprofiler_client_finalize_t mock_end;
static rocprofiler_client_id_t *mock_id;

static UNUSED int
mock_call_initialize(rocprofiler_client_finalize_t end, void *data)
{
    mock_end = end;
    (void)data;
    return mock_initialize != NULL ? mock_initialize() : 0;
}

static UNUSED void
mock_call_finalize(void *data)
{
    (void)data;
    if (mock_finalize != NULL) {
        mock_finalize();
    }
}

static UNUSED rocprofiler_tool_configure_result_t *
mock_configure(uint32_t version, const char *runtime_version, uint32_t priority,
               rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof result, mock_call_initialize, mock_call_finalize, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    mock_id = client_id;
    client_id->name = "mock";
    return &result;
}

/* Registers the runtime, and a tool with these functions. */
static UNUSED void
mock_start(int (*initialize)(void), void (*finalize)(void))
{
    mock_initialize = initialize;
    mock_finalize = finalize;
    CHECK_EQUAL(mock_register(), 1);
    OK(rocprofiler_force_configure(mock_configure));
}

#endif
