/* SPDX-License-Identifier: MIT */
#include "rocprofiler/client_find.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dl.h"
#include "core/env.h"
#include "core/loaded.h"
#include "core/log.h"
#include "core/profiler.h"
#include "rocprofiler/sdk.h"

/* What the linker bound it to; see core/profiler.c. */
#pragma weak rocprofiler_configure

#define CONFIGURE "rocprofiler_configure"
#define OWN_TOOL "libhipadapt_tool.so"
#define SEPARATORS ",: "

typedef void (*found_function)(rocprofiler_configure_func_t);

static void
give(found_function found, void *symbol)
{
    rocprofiler_configure_func_t configure;

    if (symbol != NULL) {
        memcpy(&configure, &symbol, sizeof configure);
        found(configure);
    }
}

/* ---- files by name ---- */

static const char *
linker_error(void)
{
    const char *text = dlerror();

    return text != NULL ? text : "it can't be loaded";
}

/* One entry of ROCP_TOOL_LIBRARIES. */
static void
find_in(const char *path, found_function found)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

    if (library == NULL) {
        library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    }
    if (library == NULL) {
        ha_log(0, "tool library '%s' is left out: %s", path, linker_error());
        return;
    }
    void *symbol = dlsym(library, CONFIGURE);
    if (symbol == NULL) {
        /* It stays loaded: its constructors have run. */
        ha_log(0, "tool library '%s' is left out: it has no " CONFIGURE, path);
        return;
    }
    give(found, symbol);
}

static void
find_named(found_function found)
{
    const char *list = ha_env(HA_ENV_TOOL_LIBRARIES);
    char *copy = list != NULL ? strdup(list) : NULL;
    char *rest = NULL;

    if (copy == NULL) {
        return;
    }
    for (const char *path = strtok_r(copy, SEPARATORS, &rest); path != NULL;
         path = strtok_r(NULL, SEPARATORS, &rest)) {
        find_in(path, found);
    }
    free(copy);
}

/* The tool that stands beside this library. */
static void
find_own(found_function found)
{
    char path[1024];

    if (ha_profiler_own_wanted() &&
        ha_dl_beside((const void *)ha_tools_find, OWN_TOOL, path, sizeof path)) {
        find_in(path, found);
    }
}

/* ---- what is loaded ---- */

/* A tool where the dynamic linker's search doesn't see it; not what a library only
 * depends on. */
static int
look_for_tool(void *library, const char *path, void *data)
{
    found_function *found = data;
    Dl_info info;
    void *symbol = dlsym(library, CONFIGURE);

    if (symbol != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL &&
        strcmp(info.dli_fname, path) == 0) {
        give(*found, symbol);
    }
    return 1;
}

void
ha_tools_find(void (*found)(rocprofiler_configure_func_t configure))
{
    void *visible = dlsym(RTLD_DEFAULT, CONFIGURE);

    find_named(found);
    find_own(found);
    if (rocprofiler_configure != NULL) {
        found(rocprofiler_configure);
    }
    if (visible != NULL) {
        give(found, visible);
        ha_loaded_each(look_for_tool, &found);
    }
}

void
ha_tool_path(rocprofiler_configure_func_t configure, char *path, size_t bytes)
{
    Dl_info info;
    void *address;

    memcpy(&address, &configure, sizeof address);
    bool known = dladdr(address, &info) != 0 && info.dli_fname != NULL;
    (void)snprintf(path, bytes, "%s", known ? info.dli_fname : "a tool");
}
