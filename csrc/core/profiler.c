/* SPDX-License-Identifier: MIT */
#include "core/profiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"

#define OWN "librocprofiler-sdk.so.1"
#define REGISTER "rocprofiler_register_library_api_table"
/* A function that AMD's library of the same name doesn't have. */
#define OWN_MARK "hipadapt_rocprofiler_finalize"
#define NO_TOOLS 1

typedef struct {
    uint64_t handle;
} register_id;

typedef int (*register_function)(const char *, uint32_t (*)(void), uint32_t, void **,
                                 uint64_t, register_id *);

/* The tool of a program.  It is weak, so nothing has to have one; it is a reference, so
 * a linker that sees it exports the function of a program without -rdynamic. */
extern void rocprofiler_configure(void) __attribute__((weak, visibility("default")));

static register_function
function_of(void *symbol)
{
    register_function function;

    memcpy(&function, &symbol, sizeof function);
    return function;
}

bool
ha_profiler_own_wanted(void)
{
    const char *verbose = ha_env(HA_ENV_VERBOSE);

    if (verbose != NULL && strcmp(verbose, "none") != 0 && strcmp(verbose, "0") != 0) {
        return true;
    }
    return ha_env(HA_ENV_PROFILE) != NULL || ha_env(HA_ENV_USE_DAEMON) != NULL ||
           ha_env(HA_ENV_PROFILE_SIGNAL) != NULL ||
           ha_env_is_on(HA_ENV_DEBUG_STREAM_WATCH);
}

bool
ha_profiler_wanted(void)
{
    const char *list = ha_env(HA_ENV_TOOL_LIBRARIES);
    const char *sdk = ha_env(HA_ENV_REGISTER_LIBRARY);

    return sdk != NULL || ha_profiler_own_wanted() ||
           (list != NULL && list[strspn(list, ",: ")] != '\0') ||
           ha_env_is_on(HA_ENV_REGISTER_FORCE_LOAD) || rocprofiler_configure != NULL ||
           dlsym(RTLD_DEFAULT, "rocprofiler_configure") != NULL ||
           dlsym(RTLD_DEFAULT, REGISTER) != NULL ||
           dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table") != NULL;
}

/* Ours, if it is in the process. */
static register_function
find_loaded(void)
{
    void *symbol =
        dlsym(RTLD_DEFAULT, OWN_MARK) != NULL ? dlsym(RTLD_DEFAULT, REGISTER) : NULL;
    if (symbol != NULL) {
        return function_of(symbol);
    }
    void *library = dlopen(OWN, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    symbol = library != NULL && dlsym(library, OWN_MARK) != NULL
                 ? dlsym(library, REGISTER)
                 : NULL;
    /* It has to be found by tools that only look for symbols. */
    if (symbol != NULL) {
        (void)dlopen(OWN, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    }
    return symbol != NULL ? function_of(symbol) : NULL;
}

/* AMD's, where it is safe to call: with an SDK that it will find. */
static register_function
find_theirs(void)
{
    const char *wanted = ha_env(HA_ENV_REGISTER_LIBRARY);
    const char *name = wanted != NULL ? wanted : "librocprofiler-sdk.so";
    void *sdk = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    bool usable = sdk != NULL && dlsym(sdk, "rocprofiler_set_api_table") != NULL &&
                  dlsym(sdk, OWN_MARK) == NULL; /* ours may have that name too */
    void *library =
        usable ? dlopen("librocprofiler-register.so.0", RTLD_LAZY | RTLD_LOCAL) : NULL;
    void *symbol = library != NULL ? dlsym(library, REGISTER) : NULL;

    /* What is used stays loaded. */
    if (symbol == NULL && library != NULL) {
        dlclose(library);
    }
    if (symbol == NULL && sdk != NULL) {
        dlclose(sdk);
    }
    return symbol != NULL ? function_of(symbol) : NULL;
}

/* Ours, from the folder of the library that this is compiled into; what was loaded may
 * have been a link to that. */
static register_function
load_ours(void)
{
    char path[4096];
    Dl_info info;
    char *file = dladdr(OWN, &info) != 0 && info.dli_fname != NULL
                     ? realpath(info.dli_fname, NULL)
                     : NULL;

    if (file == NULL) {
        ha_log(0, "tools are left out: the folder of this library isn't known");
        return NULL;
    }
    const char *slash = strrchr(file, '/'); /* there is one */
    int length =
        snprintf(path, sizeof path, "%.*s%s", (int)(slash - file) + 1, file, OWN);
    free(file);
    if (length < 0 || (size_t)length >= sizeof path) {
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        ha_log(0, "tools are left out: %s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, REGISTER);
    return symbol != NULL ? function_of(symbol) : NULL;
}

int
ha_profiler_register(const char *name, uint32_t (*import)(void), uint32_t version,
                     void **tables, uint64_t count)
{
    register_id id;

    if (!ha_profiler_wanted()) {
        return NO_TOOLS;
    }
    register_function function = find_loaded();
    if (function == NULL) {
        function = find_theirs();
    }
    if (function == NULL) {
        function = load_ours();
    }
    return function != NULL ? function(name, import, version, tables, count, &id)
                            : NO_TOOLS;
}
