/* SPDX-License-Identifier: MIT */
/* Text of records: a str that also joins bytes, because such members were bytes in
 * hip-python up to 7.2 and are str from 10.0 on: b"--offload-arch=" + props.gcnArchName
 * runs, and props.gcnArchName.decode() does. */
#ifndef HA_ADAPTERS_TEXT_H
#define HA_ADAPTERS_TEXT_H

#include <Python.h>

#include "adapters/types.h"

/* text.c: the str of a text member; new reference. */
/* The str of a text member; new reference, or NULL with an exception. */
PyObject *ha_text_new(struct ha_types *types, const char *bytes, Py_ssize_t size);
/* Makes the type; 0 or -1. */
int ha_text_init(struct ha_types *types);

#endif
