/* SPDX-License-Identifier: MIT */
/* Numbers among the arguments of the profiler's functions: whatever has __index__, in
 * the range of their C type, and a message that names them where they aren't. */
#ifndef HA_MODULE_PROFILER_NUMBER_H
#define HA_MODULE_PROFILER_NUMBER_H

#include <Python.h>

#include "adapters/number.h"
#include "adapters/types.h"

struct ha_profiler_number {
    struct ha_types *types;
    struct ha_where where;
    enum ha_kind kind;
    void *out;
};

/* A converter of PyArg_ParseTuple. */
static inline int
ha_profiler_number(PyObject *object, void *number)
{
    const struct ha_profiler_number *wanted = number;

    return ha_number_from(wanted->types, object, &wanted->where, wanted->kind,
                          wanted->out) == 0;
}

/* The two arguments for "O&". */
#define HA_PROFILER_NUMBER(module, function, argument, kind, out)                      \
    ha_profiler_number, &(struct ha_profiler_number)                                   \
    {                                                                                  \
        ha_types_of(module), {(function), (argument)}, (kind), (out)                   \
    }

#endif
