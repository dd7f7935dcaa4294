/* SPDX-License-Identifier: MIT */
/* A program that is a tool itself, as one that is linked without -rdynamic: what the
 * linker exports of it is what its libraries ask for.
 *
 * -DPROGRAM_LOADS_HIP: it is linked with the profiler's library only, and loads HIP
 * from the path that it is given. */
#include "tool.h"

#include <dlfcn.h>

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)end;
    (void)data;
    say("initialize");
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
    say("finalize");
}

int
main(int argc, char **argv)
{
    int devices = -1;
#ifdef PROGRAM_LOADS_HIP
    __typeof__(&hipGetDeviceCount) get_count;
    uint32_t major = 0, minor = 0, patch = 0;
    void *hip = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = hip != NULL ? dlsym(hip, "hipGetDeviceCount") : NULL;

    if (symbol == NULL ||
        rocprofiler_get_version(&major, &minor, &patch) != ROCPROFILER_STATUS_SUCCESS) {
        say("no HIP in %s", argc > 1 ? argv[1] : "nothing");
        return 2;
    }
    memcpy(&get_count, &symbol, sizeof symbol);
#else
    (void)argc;
    (void)argv;
    __typeof__(&hipGetDeviceCount) get_count = hipGetDeviceCount;
#endif
    int status = get_count(&devices);
    printf("result %d %d\n", status, devices);
    return 0;
}
