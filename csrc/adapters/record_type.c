/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/record_type.h"

#include "adapters/description.h"
#include "adapters/field.h"
#include "adapters/kind.h"
#include "adapters/number.h"
#include "adapters/record.h"
#include "adapters/record_from.h"
#include "adapters/type.h"
#include "adapters/type_index.h"
#include "adapters/types.h"

/* Descriptor of get_x and set_x: a method that knows its field. */
struct accessor {
    PyObject_HEAD
    const struct ha_field *field;      /* static */
    const struct ha_record_info *info; /* static */
    bool set;
};

/* Bytes of element `index`, which must be one of the array's. */
static unsigned char *
record_element(const struct ha_seen_record *seen, PyObject *index)
{
    unsigned char *data = ha_record_data(seen);
    if (data == NULL) {
        return NULL;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (i < 0 || (seen->count >= 0 && i >= seen->count) ||
        i > PY_SSIZE_T_MAX / (Py_ssize_t)seen->info->size) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of range: %s has %zd elements",
                     i, ha_short_name(Py_TYPE(seen->self)), seen->count);
        return NULL;
    }
    return data + (size_t)i * seen->info->size;
}

static int
check_writable(const struct ha_seen_record *seen, const struct ha_field *field)
{
    const char *name = ha_short_name(Py_TYPE(seen->self));
    if ((field->flags & HA_FIELD_READONLY) != 0) {
        PyErr_Format(PyExc_AttributeError, "%s.%s is read-only", name, field->name);
        return -1;
    }
    if (seen->base.readonly) {
        PyErr_Format(PyExc_BufferError, "%s.%s: the memory is read-only", name,
                     field->name);
        return -1;
    }
    return 0;
}

/* ---- properties ---- */

PyObject *
ha_record_property_get(PyObject *self, void *closure)
{
    struct ha_seen_record seen;
    ha_record_see(self, &seen);
    unsigned char *data = ha_record_data(&seen);
    PyObject *value = NULL;
    if (data != NULL) {
        value = ha_field_get(ha_types_of_type(Py_TYPE(self)), &seen, closure, data);
    }
    ha_pointer_unsee(&seen.base);
    return value;
}

static int
seen_set(const struct ha_seen_record *seen, PyObject *value,
         const struct ha_field *field)
{
    unsigned char *data = ha_record_data(seen);
    if (data == NULL || check_writable(seen, field) < 0) {
        return -1;
    }
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "%s can't be deleted", field->name);
        return -1;
    }
    return ha_field_set(ha_types_of_type(Py_TYPE(seen->self)), seen, field, data,
                        value);
}

static int
property_set(PyObject *self, PyObject *value, void *closure)
{
    struct ha_seen_record seen;
    ha_record_see(self, &seen);
    int status = seen_set(&seen, value, closure);
    ha_pointer_unsee(&seen.base);
    return status;
}

/* What get_x(i) or set_x(i, value) does, with `args` as they came. */
static PyObject *
access_element(struct ha_types *types, const struct accessor *accessor,
               const struct ha_seen_record *seen, PyObject *args)
{
    unsigned char *element = record_element(seen, PyTuple_GET_ITEM(args, 1));
    if (element == NULL) {
        return NULL;
    }
    if (!accessor->set) {
        return ha_field_get(types, seen, accessor->field, element);
    }
    if (check_writable(seen, accessor->field) < 0 ||
        ha_field_set(types, seen, accessor->field, element, PyTuple_GET_ITEM(args, 2)) <
            0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
accessor_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const struct accessor *accessor = (struct accessor *)self;
    const char *verb = accessor->set ? "set" : "get";
    Py_ssize_t wanted = accessor->set ? 3 : 2;
    if ((kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) ||
        PyTuple_GET_SIZE(args) != wanted) {
        return PyErr_Format(PyExc_TypeError, "%s_%s() takes %zd arguments (%zd given)",
                            verb, accessor->field->name, wanted - 1,
                            PyTuple_GET_SIZE(args) - 1);
    }
    PyObject *object = PyTuple_GET_ITEM(args, 0);
    struct ha_types *types = PyType_GetModuleState(Py_TYPE(self));
    if (types->record == NULL || !PyObject_TypeCheck(object, types->record) ||
        ((struct ha_record *)object)->info != accessor->info) {
        return PyErr_Format(PyExc_TypeError, "%s_%s() needs a %s, not '%.200s'", verb,
                            accessor->field->name, accessor->info->name,
                            Py_TYPE(object)->tp_name);
    }
    struct ha_seen_record seen;
    ha_record_see(object, &seen);
    PyObject *result = access_element(types, accessor, &seen, args);
    ha_pointer_unsee(&seen.base);
    return result;
}

static PyObject *
accessor_bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return object == NULL ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *
accessor_repr(PyObject *self)
{
    const struct accessor *accessor = (struct accessor *)self;
    return PyUnicode_FromFormat("<method %s_%s of %s>", accessor->set ? "set" : "get",
                                accessor->field->name, accessor->info->name);
}

static void
accessor_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot accessor_slots[] = {
    {Py_tp_doc, (void *)"get_x(i) or set_x(i, value): member x of element i."},
    {Py_tp_call, accessor_call},
    {Py_tp_descr_get, accessor_bind},
    {Py_tp_repr, accessor_repr},
    {Py_tp_dealloc, accessor_dealloc},
    {0, NULL},
};

static PyType_Spec accessor_spec = {
    .name = "hipadapt.types._Accessor",
    .basicsize = sizeof(struct accessor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = accessor_slots,
};

int
ha_accessor_init(struct ha_types *types)
{
    return ha_type_make(types, &accessor_spec, NULL, false, &types->accessor);
}

/* ---- types made from descriptions ---- */

/* A member that reaches beyond its record would be read from a stranger's memory. */
static bool
field_fits(const struct ha_types *types, const struct ha_record_info *info,
           const struct ha_field *field)
{
    uint64_t size = field->kind == HA_RECORD ? types->tables->records[field->index].size
                                             : ha_kind_size((enum ha_kind)field->kind);
    uint64_t count = field->count == 0 ? 1 : field->count;
    return field->offset + count * size <= info->size;
}

/* The property table that the type's descriptors point into. */
static PyGetSetDef *
make_getset(const struct ha_types *types, const struct ha_record_info *info)
{
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (!field_fits(types, info, &info->fields[i])) {
            PyErr_Format(PyExc_SystemError, "description of %s: member %s does not fit",
                         info->name, info->fields[i].name);
            return NULL;
        }
    }
    PyGetSetDef *getset = PyMem_Calloc(info->field_count + 1, sizeof *getset);
    if (getset == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (uint32_t i = 0; i < info->field_count; i++) {
        getset[i].name = info->fields[i].name;
        getset[i].get = ha_record_property_get;
        getset[i].set = property_set;
        getset[i].doc = info->fields[i].doc;
        getset[i].closure = (void *)&info->fields[i];
    }
    return getset;
}

/* The entry's table, which all types that are made for it share.  It is kept even if no
 * type comes of it: a half-made one may live on in a cycle. */
static PyGetSetDef *
getset_of(const struct ha_types *types, struct ha_type_entry *entry,
          const struct ha_record_info *info)
{
    void *there = HA_READ(entry->memory);
    PyGetSetDef *made = there == NULL ? make_getset(types, info) : NULL;
    if (made != NULL &&
        !__atomic_compare_exchange_n(&entry->memory, &there, (void *)made, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        PyMem_Free(made);
        made = NULL;
    }
    return made != NULL ? made : there;
}

static int
add_accessor(struct ha_types *types, PyTypeObject *type,
             const struct ha_record_info *info, const struct ha_field *field, bool set)
{
    struct accessor *accessor =
        (struct accessor *)types->accessor->tp_alloc(types->accessor, 0);
    PyObject *name = PyUnicode_FromFormat("%s_%s", set ? "set" : "get", field->name);
    int status = -1;
    if (accessor != NULL && name != NULL) {
        accessor->field = field;
        accessor->info = info;
        accessor->set = set;
        status = PyObject_SetAttr((PyObject *)type, name, (PyObject *)accessor);
    }
    Py_XDECREF(name);
    Py_XDECREF((PyObject *)accessor);
    return status;
}

static int
add_accessors(struct ha_types *types, PyTypeObject *type,
              const struct ha_record_info *info)
{
    for (uint32_t i = 0; i < info->field_count; i++) {
        const struct ha_field *field = &info->fields[i];
        if (add_accessor(types, type, info, field, false) < 0 ||
            ((field->flags & HA_FIELD_READONLY) == 0 &&
             add_accessor(types, type, info, field, true) < 0)) {
            return -1;
        }
    }
    return 0;
}

PyTypeObject *
ha_record_type(struct ha_types *types, unsigned index)
{
    struct ha_type_entry *entry = &types->records[index];
    const struct ha_record_info *info = &types->tables->records[index];
    PyTypeObject *type = HA_READ(entry->type);
    if (type != NULL) {
        return type;
    }
    if (types->record == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "hipadapt is shutting down");
        return NULL;
    }
    PyGetSetDef *getset = getset_of(types, entry, info);
    if (getset == NULL) {
        return NULL;
    }
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(info->doc == NULL ? "" : info->doc)},
        {Py_tp_dealloc, ha_record_dealloc},
        {Py_tp_traverse, ha_record_traverse},
        {Py_tp_clear, ha_record_clear},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = info->name,
        .basicsize = sizeof(struct ha_record),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    if (ha_type_make(types, &spec, types->record, false, &type) < 0) {
        return NULL;
    }
    if (add_accessors(types, type, info) < 0) {
        Py_DECREF(type);
        return NULL;
    }
    type->tp_vectorcall = ha_record_vectorcall;
    return ha_type_index_publish(types, entry, type, index);
}
