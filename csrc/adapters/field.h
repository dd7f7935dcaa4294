/* SPDX-License-Identifier: MIT */
/* Members of records: bytes to Python values and back. */
#ifndef HA_ADAPTERS_FIELD_H
#define HA_ADAPTERS_FIELD_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/description.h"
#include "adapters/record.h"
#include "adapters/types.h"

/* field.c: members of records. */
/* The value of a member: new reference, or NULL with an exception.  `element` is where
 * its record begins. */
PyObject *ha_field_get(struct ha_types *types, const struct ha_seen_record *record,
                       const struct ha_field *field, unsigned char *element);
/* 0, or -1 with an exception and the member as it was. */
int ha_field_set(struct ha_types *types, const struct ha_seen_record *record,
                 const struct ha_field *field, unsigned char *element, PyObject *value);
bool ha_record_bytes_equal(struct ha_types *types, const struct ha_record_info *info,
                           const unsigned char *left, const unsigned char *right);

#endif
