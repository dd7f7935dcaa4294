/* SPDX-License-Identifier: MIT */
/* Function pointers: addresses of C functions, ctypes functions and Python callables.
 *
 * A Python callable needs a piece of C that calls it (a trampoline).  The caller may
 * bring its own maker; otherwise ctypes makes one after the signature of the type, and
 * the trampoline is the owner. */
#ifndef HA_ADAPTERS_FUNCTION_H
#define HA_ADAPTERS_FUNCTION_H

#include <Python.h>

#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Function pointer number `index`: None, its own type, int, c_void_p, ctypes function
 * objects; Python callables by `maker`, or by ctypes if maker is NULL.  Never a buffer.
 * The maker fills function and owner (owned) and answers 0, or -1 with an exception. */
typedef int (*ha_trampoline_maker)(void *context, PyObject *callable, void **function,
                                   PyObject **owner);

int ha_callback_from(struct ha_types *types, PyObject *object,
                     const struct ha_where *where, unsigned index,
                     ha_trampoline_maker maker, void *context, struct ha_view *out);

/* New reference, or NULL with an exception. */
PyObject *ha_function_new(struct ha_types *types, unsigned index, void *function);
/* The type of function pointer number `index`, made on first use: borrowed for as long
 * as the module lives, or NULL with an exception. */
PyTypeObject *ha_function_type(struct ha_types *types, unsigned index);

/* Makes the base type; 0 or -1. */
int ha_function_init(struct ha_types *types);

#endif
