/* SPDX-License-Identifier: MIT */
/* Objects with a method as_c_void_p(), which answers a ctypes.c_void_p or an int. */
#ifndef HA_ADAPTERS_AS_C_VOID_P_H
#define HA_ADAPTERS_AS_C_VOID_P_H

#include <Python.h>

#include "adapters/take.h"

/* Row of the method. */
int ha_take_as_c_void_p(struct ha_take *take, PyObject *object);

#endif
