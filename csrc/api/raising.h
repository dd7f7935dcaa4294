/* SPDX-License-Identifier: MIT */
/* Functions of HIP and hiprtc in a form that raises.
 *
 * A *raising function* calls another function and looks at the status with which the
 * tuple it returns begins.  After success its result is None, the one output, or the
 * tuple of outputs; otherwise a Python callable (hipadapt.errors) makes the exception.
 */
#ifndef HA_API_RAISING_H
#define HA_API_RAISING_H

#include <Python.h>

/* The type RaisingFunction(function, fail) of the module; owned, NULL with an
 * exception. `fail(function, result, args, kwargs)` is called after failures and has to
 * raise. */
PyObject *ha_raising_type_new(PyObject *module);

#endif
