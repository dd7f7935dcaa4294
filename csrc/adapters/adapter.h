/* SPDX-License-Identifier: MIT */
/* Adapters: from a Python object to the C value that a HIP call takes, and back.
 *
 * Vocabulary.  A *view* (struct ha_view) is an address with what is known about it:
 * byte length, read-only or not, and the *owner*, an object that keeps the memory
 * alive.  A *where* names function and argument for messages.  A *hold* is a Python
 * object that keeps a buffer; a *block* is one that is memory (see object.h).
 *
 * Every ha_*_from function converts on the C stack: no Python object is made for
 * arguments of the usual kinds.  All answer 0, or -1 with an exception that names
 * function, argument and what arrived; on failure `out` is empty, so ha_view_release
 * may follow in any case. The order in which kinds of objects are tried is one table,
 * ha_adapter_table (adapter.c); docs/adapters.md shows it.
 *
 * State.  struct ha_types is the first member of the module state.  It is written by
 * ha_adapters_init and, for types made on first use, under the GIL.  Types in it are
 * owned. All functions need the GIL.  See also: record.h (records, handles, function
 * pointers), launch.h (kernel arguments), object.h (layout of the Python objects). */
#ifndef HA_ADAPTERS_ADAPTER_H
#define HA_ADAPTERS_ADAPTER_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adapters/freed.h"
#include "adapters/freeze.h"
#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/state.h"
#include "adapters/type.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* ---- arguments ---- */

/* Any pointer, by the adapter order.  Fast for None, our own types, int, bytes, numpy.
 */
int ha_ptr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                unsigned flags, struct ha_view *out);

/* Opaque handle number `index` of the API tables.  A handle of another type is refused;
 * where the table says so, objects with __cuda_stream__ are taken. */
int ha_handle_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned index, struct ha_view *out);

/* char *: str (UTF-8), bytes and buffers; always NUL-terminated.  With HA_WRITE the
 * memory itself is given, so str and bytes are refused. */
int ha_cstr_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 unsigned flags, struct ha_view *out);

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

/* Pointer to record number `index`: an instance, a tuple or list of its values, or
 * memory that is large enough by the adapter order. */
int ha_record_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, unsigned index, unsigned flags,
                   struct ha_view *out);

/* Array of records number `index`: a list or tuple of records (or of tuples of their
 * values), which are copied; else what ha_record_from takes, one record or several in a
 * row.  out->count is their number if known; NULL has none. */
int ha_record_list_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, unsigned index, unsigned flags,
                        struct ha_view *out);

/* Function pointer number `index`: None, its own type, int, c_void_p, ctypes function
 * objects; Python callables by `maker`, or by ctypes if maker is NULL.  Never a buffer.
 * The maker fills function and owner (owned) and answers 0, or -1 with an exception. */
typedef int (*ha_trampoline_maker)(void *context, PyObject *callable, void **function,
                                   PyObject **owner);
int ha_callback_from(struct ha_types *types, PyObject *object,
                     const struct ha_where *where, unsigned index,
                     ha_trampoline_maker maker, void *context, struct ha_view *out);

/* ---- results: new references, NULL with an exception ---- */

/* Text that C owns; `owner` (borrowed, may be NULL) is kept as long as the result
 * lives. */
PyObject *ha_cstr_new(struct ha_types *types, const char *text, PyObject *owner);
/* A copy of text that C owns, and may free. */
PyObject *ha_cstr_copy(struct ha_types *types, const char *text);
/* Zeroed memory for `size` characters and a NUL, to be filled by C (ha_pointer_of). */
PyObject *ha_cstr_alloc(struct ha_types *types, size_t size);
/* Number `value` of list kind `kind` memory; see ListOf*.allocate. */
PyObject *ha_list_alloc(struct ha_types *types, enum ha_kind kind, Py_ssize_t count);

/* All rows in order, without the checks of flags. */
int ha_take_all(struct ha_take *take, PyObject *object);
/* The first four rows: None, Pointer, int, ctypes pointers. */
int ha_take_address(struct ha_take *take, PyObject *object);
/* The adapter order for docs and tests: a new tuple of (name, accepts) tuples, which
 * the module has as adapter_order. */
PyObject *ha_adapter_rows(void);

#endif
