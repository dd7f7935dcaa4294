/* SPDX-License-Identifier: MIT */
/* What each wrapper does before and after its call: match arguments with parameters,
 * turn numbers into C, turn results into Python.
 *
 * Words: a *form* is one parameter list of a function.  The first is the usual one; in
 * others the caller brings the memory of outputs, or leaves inputs out.  Wrappers see
 * the arguments of every form in one order, the *slots*: the parameters of the usual
 * form, then those that only others have.  The result of a form is the status and then,
 * in C order, what the form did not take: outputs, and None for inputs left out.
 *
 * All functions need the GIL.  Those that return int give -1 with an exception. */
#ifndef HA_API_CALL_H
#define HA_API_CALL_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"

/* Names for messages: `names` is the function's name and one name a slot, each with its
 * NUL.  Tables begin zeroed and are filled at the first call, because ready-made ones
 * would be many relocations at the start of the process.  Threads that do it at once
 * write the same; the first function is published last. */
void ha_where_fill(struct ha_where *where, int slots, const char *names);

static inline void
ha_where_names(struct ha_where *where, int slots, const char *names)
{
    if (HA_READ(where->function) == NULL) {
        ha_where_fill(where, slots, names);
    }
}

/* Puts the arguments of a function that has one form into `bound`, borrowed. */
int ha_bind(const struct ha_where *where, int slots, PyObject *const *arguments,
            Py_ssize_t count, PyObject *keywords, PyObject **bound);

/* The same for several forms.  The first that has as many parameters and all keywords
 * is taken; inputs that it lacks become 0 or None, outputs NULL.  Returns the slots
 * that the caller has given, one bit each.
 *
 * `forms` is {slots, forms, what each slot is: 'n' a number, 'i' another input, 'o' an
 * output; then for each form: its number of parameters and their slots}. */
int ha_bind_forms(const struct ha_where *where, const unsigned char *forms,
                  PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
                  PyObject **bound);

/* Numbers: exact ints that fit are taken here, all else goes to ha_number_from. */
int ha_arg_int(struct ha_types *types, PyObject *object, const struct ha_where *where,
               int *value);
int ha_arg_uint8(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 uint8_t *value);
int ha_arg_uint16(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, uint16_t *value);
int ha_arg_uint(struct ha_types *types, PyObject *object, const struct ha_where *where,
                unsigned int *value);
int ha_arg_int64(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 int64_t *value);
int ha_arg_uint64(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, uint64_t *value);

static inline int
ha_arg_size(struct ha_types *types, PyObject *object, const struct ha_where *where,
            size_t *value)
{
    return ha_arg_uint64(types, object, where, value);
}

static inline int
ha_arg_float(struct ha_types *types, PyObject *object, const struct ha_where *where,
             float *value)
{
    return ha_number_from(types, object, where, HA_F32, value);
}

/* Memory of the caller for one output of `bytes` bytes, or NULL.  Bare addresses and
 * memory of devices are refused: the value is read back from there, or would be written
 * by the processor. */
int ha_cell_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 size_t bytes, struct ha_view *out);

/* Whether the argument is memory, and no number. */
bool ha_is_cell(struct ha_types *types, PyObject *object);

/* The address that C gets of a value that it reads and writes: the memory in `view`, or
 * `cell` where the argument was no memory. */
static inline void *
ha_inout_of(const struct ha_view *view, void *cell)
{
    return view->ptr != NULL ? view->ptr : cell;
}

/* For size relations: 0 where the view is not known to be shorter than `bytes`, else -1
 * with a ValueError that names both numbers.  `text` is the parameter that asks for it,
 * or its constant. */
int ha_need_bytes(const struct ha_view *view, const struct ha_where *where,
                  size_t bytes, const char *text);

/* The same for lists and their number of entries, of so many bytes each.  Entries at a
 * bare address are asked for: see ha_need_memory. */
int ha_need_entries(const struct ha_view *view, const struct ha_where *where,
                    long long entries, size_t bytes, const char *text);

/* The same for lists of texts.  Where the list was not made here, the memory of each
 * text is checked too; entries may be NULL. */
int ha_need_texts(struct ha_types *types, const struct ha_view *view,
                  const struct ha_where *where, long long entries, const char *text);

/* Bytes that `rows` rows of `width` bytes take when they begin `pitch` bytes apart, and
 * `count` items of `item` bytes; SIZE_MAX where that is more than a size_t holds. */
size_t ha_size_rows(size_t pitch, size_t width, size_t rows);
size_t ha_size_items(size_t count, size_t item);

/* Views of a wrapper.  Conversions begin with an empty one, so before them it only has
 * to be known that nothing is held. */
static inline void
ha_view_idle(struct ha_view *view)
{
    view->owner = NULL;
    view->used = NULL;
    view->has_buffer = false;
}

static inline void
ha_view_end(struct ha_view *view)
{
    if (view->has_buffer || view->owner != NULL) {
        ha_view_drop(view);
    }
}

/* The tuple of a status and its outputs.  Steals all, and releases all where one is
 * NULL; then NULL. */
PyObject *ha_result2(PyObject *status, PyObject *first);
PyObject *ha_result3(PyObject *status, PyObject *first, PyObject *second);
PyObject *ha_result4(PyObject *status, PyObject *first, PyObject *second,
                     PyObject *third);

/* The tuple of the items but for those that are HA_TAKEN, which the caller has already.
 * Steals all, and releases all where one is NULL; then NULL. */
#define HA_TAKEN ((PyObject *)&ha_taken)
extern const char ha_taken;
PyObject *ha_result_left(PyObject *const *items, Py_ssize_t count);

#endif
