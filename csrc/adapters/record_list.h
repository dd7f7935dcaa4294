/* SPDX-License-Identifier: MIT */
/* Arrays of records: a list or tuple of them, or memory that holds several. */
#ifndef HA_ADAPTERS_RECORD_LIST_H
#define HA_ADAPTERS_RECORD_LIST_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Array of records number `index`: a list or tuple of records (or of tuples of their
 * values), which are copied; else what ha_record_from takes, one record or several in a
 * row.  out->count is their number if known; NULL has none. */
int ha_record_list_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, unsigned index, unsigned flags,
                        struct ha_view *out);

#endif
