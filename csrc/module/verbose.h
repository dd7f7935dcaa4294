/* SPDX-License-Identifier: MIT */
/* Verbose lines (hipadapt/verbose.h) for hipadapt.verbose, and the arguments that a
 * line has of a launch from Python.  Needs the GIL. */
#ifndef HA_MODULE_VERBOSE_H
#define HA_MODULE_VERBOSE_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/together.h"
#include "adapters/types.h"
#include "module/profiler_tool.h"

/* Whether somebody wants the arguments of launches. */
static inline bool
ha_verbose_wants_arguments(void)
{
    return HA_READ(ha_tool) != NULL && ha_tool->verbose_wants_arguments();
}

/* The next launch of this thread has these arguments.  What can't be told is left out;
 * no exception is set. */
void ha_verbose_note(const struct ha_types *types, PyObject *const *args,
                     Py_ssize_t count);

/* There is no launch after this note, or it was made. */
void ha_verbose_noted(void);

int ha_verbose_init(PyObject *module);

#endif
