/* SPDX-License-Identifier: MIT */
/* Whether there is an interpreter that a thread without the GIL may enter. */
#ifndef HA_ADAPTERS_INTERPRETER_H
#define HA_ADAPTERS_INTERPRETER_H

#include <Python.h>

#include <stdbool.h>

/* True from its end on: a thread that asks for the GIL then is ended, or waits for
 * ever. */
static inline bool
ha_interpreter_over(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    bool ends = Py_IsFinalizing() != 0;
#else
    bool ends = _Py_IsFinalizing() != 0;
#endif
    return ends || !Py_IsInitialized();
}

#endif
