/* SPDX-License-Identifier: MIT */
/* Arrays of C values from list, tuple, arrays of the right type, and addresses. */
#ifndef HA_ADAPTERS_LIST_FROM_H
#define HA_ADAPTERS_LIST_FROM_H

#include <Python.h>

#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* char **, void **, int * and so on: list and tuple first, then the adapter order.
 * out->count is the number of elements if known; NULL has none.  `kind` of
 * ha_list_number_from is one of HA_I32, HA_U32, HA_LONG, HA_ULONG, HA_I64, HA_U64,
 * HA_SIZE, HA_F32. */
int ha_list_bytes_from(struct ha_types *types, PyObject *object,
                       const struct ha_where *where, unsigned flags,
                       struct ha_view *out);
int ha_list_ptr_from(struct ha_types *types, PyObject *object,
                     const struct ha_where *where, unsigned flags, struct ha_view *out);
int ha_list_number_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, enum ha_kind kind, unsigned flags,
                        struct ha_view *out);

int ha_list_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 enum ha_kind kind, unsigned flags, struct ha_view *out);

#endif
