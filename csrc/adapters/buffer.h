/* SPDX-License-Identifier: MIT */
/* The buffer protocol. */
#ifndef HA_ADAPTERS_BUFFER_H
#define HA_ADAPTERS_BUFFER_H

#include <Python.h>

#include "adapters/take.h"

/* Row of the protocol. */
int ha_take_buffer(struct ha_take *take, PyObject *object);

#endif
