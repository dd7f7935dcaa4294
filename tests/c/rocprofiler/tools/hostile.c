/* SPDX-License-Identifier: MIT */
/* A tool that behaves badly, in one way: -DHOSTILE_<way>. */
#if defined(HOSTILE_wrong_size) || defined(HOSTILE_crash_in_configure) ||              \
    defined(HOSTILE_abort_in_configure) || defined(HOSTILE_throw_in_configure) ||      \
    defined(HOSTILE_null_functions) || defined(HOSTILE_fork_in_configure) ||           \
    defined(HOSTILE_block_signals) || defined(HOSTILE_configure_again)
#define TOOL_OWN_CONFIGURE
#endif
#include "tool.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#ifdef __cplusplus
#include <stdexcept>
#endif

typedef int (*count_function)(int *);

/* A call of HIP, as a program would make it. */
static TOOL_UNUSED int
call_hip(void)
{
    int count = -1;
    void *symbol = dlsym(RTLD_DEFAULT, "hipGetDeviceCount");
    count_function function;

    if (symbol == NULL) {
        void *library = dlopen(getenv("TOOL_HIP"), RTLD_NOW | RTLD_NOLOAD);
        symbol = library != NULL ? dlsym(library, "hipGetDeviceCount") : NULL;
    }
    if (symbol == NULL) {
        return -1;
    }
    memcpy(&function, &symbol, sizeof function);
    return function(&count);
}

#ifdef TOOL_OWN_CONFIGURE
static rocprofiler_tool_configure_result_t result = {
    sizeof(rocprofiler_tool_configure_result_t), tool_initialize, tool_finalize, NULL};

TOOL_EXPORT rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    (void)version;
    (void)runtime_version;
    (void)priority;
    tool_id = client_id;
#if defined(HOSTILE_wrong_size)
    result.size = 24;
#elif defined(HOSTILE_crash_in_configure)
    *(volatile int *)8 = 1;
#elif defined(HOSTILE_abort_in_configure)
    abort();
#elif defined(HOSTILE_throw_in_configure)
    throw std::runtime_error("no tool today");
#elif defined(HOSTILE_null_functions)
    result.initialize = NULL;
    result.finalize = NULL;
#elif defined(HOSTILE_fork_in_configure)
    pid_t child = fork();
    if (child == 0) {
        _exit(3);
    }
    (void)waitpid(child, NULL, 0);
#elif defined(HOSTILE_block_signals)
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
#elif defined(HOSTILE_configure_again)
    EXPECT(rocprofiler_force_configure(rocprofiler_configure),
           ERROR_CONFIGURATION_LOCKED);
#endif
    return &result;
}
#endif

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)data;
    (void)end;
#if defined(HOSTILE_hip_in_initialize)
    say("hip in initialize: %d", call_hip());
#elif defined(HOSTILE_crash_in_initialize)
    *(volatile int *)8 = 1;
#elif defined(HOSTILE_throw_in_initialize)
    throw std::runtime_error("no tool today");
#elif defined(HOSTILE_ends_in_initialize)
    end(*tool_id);
#elif defined(HOSTILE_answers_badly)
    return 7;
#endif
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
#if defined(HOSTILE_crash_in_finalize)
    *(volatile int *)8 = 1;
#elif defined(HOSTILE_throw_in_finalize)
    throw std::runtime_error("no end today");
#elif defined(HOSTILE_hip_in_finalize)
    (void)call_hip();
#endif
    say("finalize");
}
