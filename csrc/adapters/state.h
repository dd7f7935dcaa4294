/* SPDX-License-Identifier: MIT */
/* The adapters' part of the module state: making, visiting and clearing it. */
#ifndef HA_ADAPTERS_STATE_H
#define HA_ADAPTERS_STATE_H

#include <Python.h>

#include "adapters/description.h"
#include "adapters/types.h"

/* Makes all types, adds them to the module under their names ("Pointer", ...), and
 * keeps `tables` (static; NULL for none).  Once per module object, from its
 * Py_mod_exec.  On failure call ha_adapters_clear and _free through the module's usual
 * m_clear and m_free. */
int ha_adapters_init(PyObject *module, struct ha_types *types,
                     const struct ha_tables *tables);
int ha_adapters_traverse(struct ha_types *types, visitproc visit, void *arg);
int ha_adapters_clear(struct ha_types *types);
void ha_adapters_free(struct ha_types *types);

#endif
