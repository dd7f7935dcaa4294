/* SPDX-License-Identifier: MIT */
/* Objects whose memory a call of HIP has freed. */
#ifndef HA_ADAPTERS_FREED_H
#define HA_ADAPTERS_FREED_H

#include <Python.h>

#include "adapters/types.h"

/* HIP has freed the memory at `ptr`, for which `object` stood in the call: if it is a
 * record, an array or a Pointer that looks at `ptr`, it has no memory from now on.
 * Never fails. */
void ha_pointer_freed(struct ha_types *types, PyObject *object, const void *ptr);

#endif
