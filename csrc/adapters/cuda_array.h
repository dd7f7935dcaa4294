/* SPDX-License-Identifier: MIT */
/* The CUDA array interface, as a consumer.  The dict is a stranger's: every entry is
 * checked, and read once. */
#ifndef HA_ADAPTERS_CUDA_ARRAY_H
#define HA_ADAPTERS_CUDA_ARRAY_H

#include <Python.h>

#include "adapters/take.h"

/* Row of the interface. */
int ha_take_cuda_array(struct ha_take *take, PyObject *object);

#endif
