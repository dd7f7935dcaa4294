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

#include "adapters/freeze.h"
#include "adapters/message.h"
#include "adapters/view.h"

/* What C values look like; also the element of lists and the field of records. */
enum ha_kind {
    HA_BOOL, /* C bool, one byte */
    HA_CHAR, /* text byte: arrays of it are str; alone an int */
    HA_I8,
    HA_U8,
    HA_I16,
    HA_U16,
    HA_I32, /* int */
    HA_U32, /* unsigned */
    HA_I64,
    HA_U64,
    HA_LONG,  /* long, same bytes as HA_I64 on LP64 but named "long" in messages */
    HA_ULONG, /* unsigned long */
    HA_SIZE,  /* size_t */
    HA_F32,
    HA_F64,
    HA_POINTER,  /* void * and any pointer without a type of its own */
    HA_CSTR,     /* const char * */
    HA_ENUM,     /* int; index = enum of the API tables */
    HA_HANDLE,   /* opaque pointer; index = handle of the API tables */
    HA_FUNCTION, /* function pointer; index = function type of the API tables */
    HA_RECORD,   /* nested record; index = record of the API tables */
    HA_KIND_COUNT
};

struct ha_types;

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

/* A C number of any number kind (HA_BOOL..HA_F64, HA_ENUM as int), range checked. `out`
 * points to the C type of the kind.  int and __index__ objects; float only for
 * HA_F32/64. */
int ha_number_from(struct ha_types *types, PyObject *object,
                   const struct ha_where *where, enum ha_kind kind, void *out);

/* The same for arguments and members that count something: a float that is a whole
 * number will do, as n / block is one in programs for hip-python. */
int ha_count_from(struct ha_types *types, PyObject *object,
                  const struct ha_where *where, enum ha_kind kind, void *out);

/* Value of a member of the Python enum `type` (borrowed; NULL = any int will do), or an
 * int that is the value of one of its members; members of other enums are refused.
 * `known` answers whether an int is a value of the enum; NULL lets every int that fits
 * pass. */
int ha_enum_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
                 PyObject *type, bool (*known)(int), int *out);

static inline int
ha_int_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
            int *out)
{
    return ha_number_from(types, object, where, HA_I32, out);
}

static inline int
ha_uint_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             unsigned *out)
{
    return ha_number_from(types, object, where, HA_U32, out);
}

static inline int
ha_size_from(struct ha_types *types, PyObject *object, const struct ha_where *where,
             size_t *out)
{
    return ha_number_from(types, object, where, HA_SIZE, out);
}

/* ---- results: new references, NULL with an exception ---- */

PyObject *ha_pointer_new(struct ha_types *types, void *ptr);
/* Device memory of `nbytes`: shape (nbytes,), bytes.  Frees nothing. */
PyObject *ha_device_array_new(struct ha_types *types, void *ptr, size_t nbytes);
/* Text that C owns; `owner` (borrowed, may be NULL) is kept as long as the result
 * lives. */
PyObject *ha_cstr_new(struct ha_types *types, const char *text, PyObject *owner);
/* A copy of text that C owns, and may free. */
PyObject *ha_cstr_copy(struct ha_types *types, const char *text);
/* Zeroed memory for `size` characters and a NUL, to be filled by C (ha_pointer_of). */
PyObject *ha_cstr_alloc(struct ha_types *types, size_t size);
/* Number `value` of list kind `kind` memory; see ListOf*.allocate. */
PyObject *ha_list_alloc(struct ha_types *types, enum ha_kind kind, Py_ssize_t count);

/* ---- state ---- */

struct ha_tables;       /* record.h */
struct ha_memory_hooks; /* memory.h */

/* What the state remembers of one type made from a description. */
struct ha_type_entry {
    PyTypeObject *type; /* owned; NULL until first use */
    void *memory;       /* owned (PyMem): tables that the type points into */
};

struct ha_types {
    PyTypeObject *pointer;
    PyTypeObject *nd_buffer;
    PyTypeObject *device_array;
    PyTypeObject *cstr;
    PyTypeObject *list_bytes;
    PyTypeObject *list_pointer;
    PyTypeObject *list_number[HA_KIND_COUNT]; /* NULL where there is no such list */
    PyTypeObject *pointer_to[HA_KIND_COUNT];  /* PointerToInt ...; NULL likewise */
    PyTypeObject *launch_extra;
    PyTypeObject *handle;   /* base of all handle types */
    PyTypeObject *function; /* base of all function pointer types */
    PyTypeObject *record;   /* base of all record types */
    PyTypeObject *text;     /* str of records */
    PyTypeObject *accessor; /* get_x and set_x of records */
    PyTypeObject *hold;
    PyTypeObject *block;
    PyTypeObject *allocation;
    PyTypeObject *tensor;
    /* Interned names. */
    PyObject *str_cuda_array_interface;
    PyObject *str_cuda_stream;
    PyObject *str_as_c_void_p;
    PyObject *str_dlpack, *str_dlpack_device;
    PyObject *str_shape, *str_typestr, *str_data, *str_strides, *str_version;
    PyObject *str_mask, *str_stream, *str_itemsize, *str_read_only, *str_force;
    PyObject *str_max_version, *str_str, *str_name, *str_dtype, *str_close, *str_descr;
    PyObject *str_names;
    PyObject *str_is_neg, *str_is_conj, *str_requires_grad;
    PyObject *str_dl_device, *str_copy, *str_dlpack_exchange;
    PyObject *dlpack_kwnames; /* ("max_version",) */
    PyObject *dlpack_version; /* (1, 3) */
    /* Filled when ctypes has been imported by somebody; until then no object is
     * ctypes'. */
    PyObject *ctypes_module;
    PyTypeObject *c_void_p, *c_simple, *c_pointer, *c_function, *c_structure, *c_union;
    PyTypeObject *c_array, *c_char_p, *c_wchar_p;
    PyObject *c_alignment; /* ctypes.alignment */
    PyObject *module;      /* borrowed: the module whose state this is */
    const struct ha_tables *tables;
    const struct ha_memory_hooks
        *memory; /* static; NULL until the room above sets it */
    struct ha_type_entry *records, *handles,
        *functions;                  /* owned arrays, tables' order */
    struct ha_type_slot *type_slots; /* owned; see type_index.c */
    size_t type_slot_count, type_slot_used;
};

/* Makes all types, adds them to the module under their names ("Pointer", ...), and
 * keeps `tables` (static; NULL for none).  Once per module object, from its
 * Py_mod_exec.  On failure call ha_adapters_clear and _free through the module's usual
 * m_clear and m_free. */
int ha_adapters_init(PyObject *module, struct ha_types *types,
                     const struct ha_tables *tables);
int ha_adapters_traverse(struct ha_types *types, visitproc visit, void *arg);
int ha_adapters_clear(struct ha_types *types);
void ha_adapters_free(struct ha_types *types);

static inline struct ha_types *
ha_types_of(PyObject *module)
{
    return (struct ha_types *)PyModule_GetState(module);
}

/* State behind an instance or type of ours, Python subclasses included. */
struct ha_types *ha_types_of_type(PyTypeObject *type);

/* True if `object` is a Pointer or of a subclass of it. */
static inline bool
ha_pointer_check(const struct ha_types *types, PyObject *object)
{
    return PyObject_TypeCheck(object, types->pointer);
}

/* HIP has freed the memory at `ptr`, for which `object` stood in the call: if it is a
 * record, an array or a Pointer that looks at `ptr`, it has no memory from now on.
 * Never fails. */
void ha_pointer_freed(struct ha_types *types, PyObject *object, const void *ptr);

/* The address in an object for which ha_pointer_check holds. */
void *ha_pointer_of(PyObject *object);

#endif
