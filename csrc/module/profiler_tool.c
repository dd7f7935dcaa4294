/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_tool.h"

#include "core/status.h"
#include "tool/sdk.h"

bool
ha_profiler_need(void)
{
    if (ha_sdk_need() == HA_OK) {
        return true;
    }
    PyErr_SetString(PyExc_RuntimeError, ha_error_text());
    return false;
}
