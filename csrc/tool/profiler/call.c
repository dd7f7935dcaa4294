/* SPDX-License-Identifier: MIT */
#include "tool/profiler/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tool/profiler/slice.h"

static bool
begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool
is_launch(const char *name)
{
    return begins(name, "hipLaunch") || begins(name, "hipModuleLaunch") ||
           begins(name, "hipExtLaunch") || begins(name, "hipExtModuleLaunch") ||
           begins(name, "hipHccModuleLaunch") || begins(name, "hipDrvLaunch");
}

bool
ha_call_launches(const char *name)
{
    return is_launch(name) || begins(name, "hipMemcpy") || begins(name, "hipMemset") ||
           begins(name, "hipGraphLaunch");
}

/* Calls whose names differ in their beginning only. */
static const char *const same[] = {
    "cudaDeviceSynchronize", "cudaEventRecord",
    "cudaEventSynchronize",  "cudaFree",
    "cudaGraphLaunch",       "cudaMalloc",
    "cudaStreamSynchronize", "cudaStreamWaitEvent",
    "cudaLaunchKernelExC",   "cudaLaunchHostFunc",
    "cudaStreamAddCallback",
};

const char *
ha_call_cuda_name(const char *name)
{
    if (!begins(name, "hip")) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (strcmp(name + 3, same[i] + 4) == 0) {
            return same[i];
        }
    }
    if (is_launch(name)) {
        return strstr(name, "Cooperative") != NULL ? "cudaLaunchCooperativeKernel"
                                                   : "cudaLaunchKernel";
    }
    bool async = strstr(name, "Async") != NULL || strstr(name, "WithStream") != NULL;
    if (begins(name, "hipMemcpy")) {
        return async ? "cudaMemcpyAsync" : "cudaMemcpy";
    }
    if (begins(name, "hipMemset")) {
        return async ? "cudaMemsetAsync" : "cudaMemset";
    }
    return NULL;
}
