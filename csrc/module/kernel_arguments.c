/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/kernel_arguments.h"

#include <math.h>
#include <string.h>

#include "adapters/allocation.h"
#include "adapters/ctypes_value.h"
#include "adapters/launch.h"
#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/pointer.h"
#include "adapters/python_version.h"
#include "adapters/types.h"
#include "api/pending.h"

#define MESSAGE_BYTES 96

static void
slot_text(const struct ha_kernel_slot *slot, char *text, size_t size)
{
    const char *what = "a value";
    switch (slot->kind) {
    case HA_SLOT_POINTER:
        what = "an address";
        break;
    case HA_SLOT_RECORD:
        what = "a struct";
        break;
    case HA_SLOT_INTEGER:
    case HA_SLOT_SIGNED:
    case HA_SLOT_UNSIGNED:
        what = "an integer";
        break;
    case HA_SLOT_FLOAT:
        what = "a floating point number";
        break;
    case HA_SLOT_BOOL:
        what = "a bool";
        break;
    case HA_SLOT_ANY:
        break;
    }
    snprintf(text, size, "%s of %u byte%s", what, slot->size,
             slot->size == 1 ? "" : "s");
}

/* TypeError: what argument number `index` must be; answers -1. */
static int
refuse(const struct ha_packing *pack, Py_ssize_t index, PyObject *object, size_t bytes)
{
    char wanted[MESSAGE_BYTES], got[MESSAGE_BYTES] = "";
    slot_text(&pack->kernel->slots[index], wanted, sizeof wanted);
    if (bytes > 0) {
        snprintf(got, sizeof got, " of %zu byte%s", bytes, bytes == 1 ? "" : "s");
    }
    PyErr_Format(PyExc_TypeError, "%s: argument args[%zd] must be %s, not '%.200s'%s",
                 ha_kernel_name(pack->kernel), index, wanted, Py_TYPE(object)->tp_name,
                 got);
    return -1;
}

static int
refuse_range(const struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    char wanted[MESSAGE_BYTES];
    slot_text(&pack->kernel->slots[index], wanted, sizeof wanted);
    PyErr_Format(PyExc_OverflowError,
                 "%s: argument args[%zd] is %.200R, which does not fit %s",
                 ha_kernel_name(pack->kernel), index, object, wanted);
    return -1;
}

static int
refuse_gone(const struct ha_packing *pack, Py_ssize_t index, PyObject *array)
{
    char name[MESSAGE_BYTES];
    snprintf(name, sizeof name, "args[%zd]", index);
    return ha_raise_gone(&pack->kernel->api->types, PyExc_ValueError, array,
                         ha_kernel_name(pack->kernel), name);
}

static inline void
store(struct ha_packing *pack, const struct ha_kernel_slot *slot, const void *value)
{
    memcpy(pack->data + slot->offset, value, slot->size);
}

static int
put_double(struct ha_packing *pack, Py_ssize_t index, PyObject *object, double value)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    if (slot->size == 8) {
        store(pack, slot, &value);
        return 0;
    }
    if (slot->size == 4) {
        float narrow = (float)value;
        if (isinf(narrow) && !isinf(value)) {
            return refuse_range(pack, index, object);
        }
        store(pack, slot, &narrow);
        return 0;
    }
    if (slot->size == 2 && slot->kind == HA_SLOT_FLOAT) {
        if (PyFloat_Pack2(value, (char *)pack->data + slot->offset, 1) < 0) {
            PyErr_Clear();
            return refuse_range(pack, index, object);
        }
        return 0;
    }
    return refuse(pack, index, object, 0);
}

/* An int that is no machine word fits nowhere but in 8 bytes without sign. */
static int
put_large(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    unsigned long long number = PyLong_AsUnsignedLongLong(object);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        return refuse_range(pack, index, object);
    }
    if (slot->size != 8 || slot->kind == HA_SLOT_SIGNED) {
        return refuse_range(pack, index, object);
    }
    store(pack, slot, &number);
    return 0;
}

static int
put_integer(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    unsigned bits = slot->size * 8;
    if (number == -1 && overflow == 0 && PyErr_Occurred()) {
        return -1;
    }
    if (slot->kind == HA_SLOT_FLOAT) {
        double value = PyLong_AsDouble(object);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return refuse_range(pack, index, object);
        }
        return put_double(pack, index, object, value);
    }
    if (slot->kind == HA_SLOT_RECORD ||
        (slot->size != 4 && slot->size != 8 && slot->size != 2 && slot->size != 1)) {
        return refuse(pack, index, object, 0);
    }
    if (overflow != 0) {
        return put_large(pack, index, object);
    }
    long long least = slot->kind == HA_SLOT_UNSIGNED || slot->kind == HA_SLOT_POINTER ||
                              slot->kind == HA_SLOT_BOOL
                          ? 0
                          : (bits == 64 ? LLONG_MIN : -(1LL << (bits - 1)));
    long long most = bits == 64 ? LLONG_MAX : (1LL << bits) - 1;
    if (slot->kind == HA_SLOT_SIGNED && bits < 64) {
        most = (1LL << (bits - 1)) - 1;
    } else if (slot->kind == HA_SLOT_BOOL) {
        most = 1;
    }
    if (number < least || number > most) {
        return refuse_range(pack, index, object);
    }
    store(pack, slot, &number); /* little-endian */
    return 0;
}

static inline bool
takes_address(const struct ha_kernel_slot *slot)
{
    return slot->size == 8 &&
           (slot->kind == HA_SLOT_POINTER || slot->kind == HA_SLOT_ANY);
}

static int
put_array(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    const struct ha_types *types = &pack->kernel->api->types;
    struct ha_pointer *array = (struct ha_pointer *)object;
    PyObject *owner = NULL;
    bool here, used = false;
    if (!takes_address(slot)) {
        return refuse(pack, index, object, sizeof array->ptr);
    }
    HA_BEGIN_SECTION(object);
    here = !ha_pointer_is_gone(types, array);
    if (here && array->owner != NULL) {
        used = Py_TYPE(array->owner) == types->allocation;
        here = !used || ha_allocation_use(array->owner);
        owner = here ? Py_NewRef(array->owner) : NULL;
    }
    if (here) {
        store(pack, slot, &array->ptr);
    }
    HA_END_SECTION();
    if (!here) {
        return refuse_gone(pack, index, object);
    }
    int status = 0;
    if (owner != NULL && (!used || !ha_allocation_waits(types, owner))) {
        status = ha_launch_keep(&pack->launch, owner);
    }
    if (used) {
        return ha_launch_use(&pack->launch, owner) < 0 ? -1 : status;
    }
    Py_XDECREF(owner);
    return status;
}

/* Letter of the number that a ctypes or numpy scalar is: 'f', 'i', 'b', or 0 for none.
 */
static char
number_class(struct ha_types *types, PyObject *object)
{
    enum ha_ctypes_class class;
    if (ha_numpy_scalar_class(object) != HA_NOT_NUMPY) {
        const char *name = strrchr(Py_TYPE(object)->tp_name, '.');
        name = name == NULL ? Py_TYPE(object)->tp_name : name + 1;
        switch (name[0]) {
        case 'f':
        case 'l': /* longdouble */
            return name[0] == 'f' || strncmp(name, "longd", 5) == 0 ? 'f' : 'i';
        case 'i':
        case 'u':
        case 's': /* short, str_ */
            return strncmp(name, "str", 3) == 0 ? 0 : 'i';
        case 'b':
            return strncmp(name, "bool", 4) == 0 ? 'b' : 0;
        default:
            return 0;
        }
    }
    if (ha_ctypes_class(types, object, &class) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (class != HA_CTYPES_SIMPLE) {
        return 0;
    }
    PyObject *code = PyObject_GetAttrString(object, "_type_");
    const char *letter =
        code != NULL && PyUnicode_Check(code) ? PyUnicode_AsUTF8(code) : NULL;
    char found = letter != NULL ? letter[0] : '\0';
    Py_XDECREF(code);
    PyErr_Clear();
    if (found == 'f' || found == 'd' || found == 'g') {
        return 'f';
    }
    return found == '?' ? 'b' : 'i';
}

/* Whether a number of that class has the right bits for the slot. */
static bool
class_fits(const struct ha_kernel_slot *slot, char class)
{
    switch (slot->kind) {
    case HA_SLOT_POINTER:
        return class != 'f' && class != 'b';
    case HA_SLOT_INTEGER:
    case HA_SLOT_SIGNED:
    case HA_SLOT_UNSIGNED:
        return class != 'f';
    case HA_SLOT_FLOAT:
        return class != 'i' && class != 'b';
    case HA_SLOT_BOOL:
        return class != 'f';
    case HA_SLOT_RECORD:
    case HA_SLOT_ANY:
        break;
    }
    return true;
}

/* All other objects, by the rules of `extra`: what comes out has to fit. */
static int
put_object(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    struct ha_types *types = &pack->kernel->api->types;
    struct ha_where where = {ha_kernel_name(pack->kernel), "args"};
    struct ha_launch_value value;
    if (!pack->named) {
        ha_entry_init(&pack->entry, &where);
        pack->named = true;
    }
    ha_entry_set(&pack->entry, index);
    pack->launch.size = 0;
    if (ha_launch_add(types, &pack->launch, object, &pack->entry.where, &value) < 0) {
        return -1;
    }
    if (value.size != slot->size || (value.address && !takes_address(slot))) {
        return refuse(pack, index, object, value.size);
    }
    if (!value.address && HA_READ(slot->fits) != Py_TYPE(object) &&
        slot->kind != HA_SLOT_ANY && slot->kind != HA_SLOT_RECORD) {
        char class = number_class(types, object);
        if (class != 0 && !class_fits(slot, class)) {
            return refuse(pack, index, object, value.size);
        }
        if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
            HA_PUBLISH(slot->fits, Py_TYPE(object));
        }
    }
    memcpy(pack->data + slot->offset, value.place, slot->size);
    return 0;
}

static int
put_bool(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    if (slot->kind == HA_SLOT_POINTER || slot->kind == HA_SLOT_FLOAT) {
        return refuse(pack, index, object, 0);
    }
    return put_integer(pack, index, object);
}

static int
put_float(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_kernel_slot *slot = &pack->kernel->slots[index];
    if (slot->kind != HA_SLOT_FLOAT && slot->kind != HA_SLOT_ANY) {
        return refuse(pack, index, object, 0);
    }
    return put_double(pack, index, object, PyFloat_AS_DOUBLE(object));
}

static int
pack_argument(struct ha_packing *pack, Py_ssize_t index, PyObject *object)
{
    const struct ha_types *types = &pack->kernel->api->types;
    if (Py_TYPE(object) == types->device_array) {
        return put_array(pack, index, object);
    }
    if (PyLong_CheckExact(object)) {
        return put_integer(pack, index, object);
    }
    if (PyFloat_CheckExact(object)) {
        return put_float(pack, index, object);
    }
    if (PyBool_Check(object)) {
        return put_bool(pack, index, object);
    }
    return put_object(pack, index, object);
}

int
ha_kernel_pack(struct ha_packing *pack, PyObject *const *args, Py_ssize_t count)
{
    const struct ha_kernel *kernel = pack->kernel;
    if (count != kernel->count) {
        PyErr_Format(PyExc_TypeError, "%s: takes %zd argument%s (%u bytes), not %zd",
                     ha_kernel_name(kernel), kernel->count,
                     kernel->count == 1 ? "" : "s", kernel->bytes, count);
        return -1;
    }
    memset(pack->data, 0, kernel->bytes);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (pack_argument(pack, i, args[i]) < 0) {
            return -1;
        }
    }
    return 0;
}
