/* SPDX-License-Identifier: MIT */
/* CStr: text of C, and Python text as char *.
 *
 * A CStr compares and hashes like its text (str first: for text beyond ASCII the hash
 * is that of the str, not of the bytes).  Nothing is interned: text lives as long as
 * the CStr or the call that uses it.  A CStr made from an address owns no text: it is
 * looked at only after the system said that it can be read. */
#ifndef HA_ADAPTERS_CSTR_H
#define HA_ADAPTERS_CSTR_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* char *: str (UTF-8), bytes and buffers; always NUL-terminated.  With HA_WRITE the
 * memory itself is given, so str and bytes are refused. */
int ha_cstr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 unsigned flags, struct ha_view *out);
/* Text that C owns; `owner` (borrowed, may be NULL) is kept as long as the result
 * lives. */
PyObject *ha_cstr_new(struct ha_types *types, const char *text, PyObject *owner);
/* A copy of text that C owns, and may free. */
PyObject *ha_cstr_copy(struct ha_types *types, const char *text);
/* Zeroed memory for `size` characters and a NUL, to be filled by C (ha_pointer_of). */
PyObject *ha_cstr_alloc(struct ha_types *types, size_t size);

/* Makes the type; 0 or -1. */
int ha_cstr_init(struct ha_types *types);

#endif
