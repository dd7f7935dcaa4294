/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_tool.h"

#include <dlfcn.h>
#include <string.h>

#include "adapters/together.h"
#include "core/dl.h"
#include "module/stacks.h"

#define LIBRARY "_lib/libhipadapt_tool.so"

const struct ha_tool *ha_tool;

enum { PATH_BYTES = 1024 };

/* Beside this library, or where the linker looks. */
static void
find(char path[PATH_BYTES])
{
    if (!ha_dl_beside(&ha_tool, LIBRARY, path, PATH_BYTES)) {
        memcpy(path, LIBRARY, sizeof LIBRARY);
    }
}

bool
ha_profiler_is_loaded(void)
{
    char path[PATH_BYTES];

    find(path);
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL) {
        (void)dlclose(library); /* whoever has loaded it keeps it */
    }
    return library != NULL;
}

bool
ha_profiler_need_tool(void)
{
    struct ha_dl_tried tried = {.used = 0};
    char path[PATH_BYTES];
    const struct ha_tool *(*table)(size_t bytes) = NULL;

    if (HA_READ(ha_tool) != NULL) {
        return true;
    }
    find(path);
    /* Local, so that HIP doesn't take it for a tool that the program wants. */
    void *library = ha_dl_open(path, RTLD_NOW | RTLD_LOCAL, &tried);
    if (library == NULL) {
        PyErr_Format(PyExc_RuntimeError, "the profiler can't be loaded: %s",
                     tried.text);
        return false;
    }
    *(void **)&table = dlsym(library, "hipadapt_tool_table");
    const struct ha_tool *found = table != NULL ? table(sizeof *ha_tool) : NULL;
    if (found == NULL) {
        PyErr_Format(PyExc_RuntimeError, "%s is of another build of hipadapt", path);
        return false;
    }
    found->stacks_from(ha_stack_name);
    HA_PUBLISH(ha_tool, found);
    return true;
}

bool
ha_profiler_need(void)
{
    if (!ha_profiler_need_tool()) {
        return false;
    }
    if (ha_tool->sdk_need() == HA_OK) {
        return true;
    }
    PyErr_SetString(PyExc_RuntimeError, ha_tool->error_text());
    return false;
}
