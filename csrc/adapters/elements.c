/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "adapters/elements.h"

#include <string.h>

#include "adapters/format.h"
#include "adapters/python_version.h"
#include "adapters/typestr.h"

#define MAX_DEPTH 16

/* size += count * unit; false where that does not fit. */
static bool
add_bytes(Py_ssize_t *size, Py_ssize_t count, Py_ssize_t unit)
{
    Py_ssize_t bytes;
    return !__builtin_mul_overflow(count, unit, &bytes) &&
           !__builtin_add_overflow(*size, bytes, size);
}

/* ---- from a descr ---- */

/* A description on its way through the lists. */
struct walk {
    PyObject *parts; /* owned list of str: the format so far */
    bool has_format; /* the buffer protocol can say it all */
    int depth;
};

static int walk_fields(struct walk *walk, PyObject *fields, Py_ssize_t *size,
                       PyObject **out);

static int
walk_text(struct walk *walk, PyObject *stolen)
{
    int status = stolen == NULL ? -1 : PyList_Append(walk->parts, stolen);
    Py_XDECREF(stolen);
    return status;
}

/* Product of a shape, an int or a tuple of them: 1, 0 or -1 as above. */
static int
walk_shape(struct walk *walk, PyObject *shape, Py_ssize_t *count)
{
    *count = 1;
    PyObject *extents =
        PyTuple_Check(shape) ? Py_NewRef(shape) : PyTuple_Pack(1, shape);
    if (extents == NULL) {
        return -1;
    }
    int status = walk_text(walk, PyUnicode_FromString("("));
    status = status < 0 ? -1 : 1;
    for (Py_ssize_t i = 0; status > 0 && i < PyTuple_GET_SIZE(extents); i++) {
        PyObject *item = PyTuple_GET_ITEM(extents, i);
        Py_ssize_t extent = PyLong_CheckExact(item) ? PyLong_AsSsize_t(item) : -1;
        PyErr_Clear();
        if (extent < 0 || __builtin_mul_overflow(*count, extent, count)) {
            status = 0;
        } else if (walk_text(walk, PyUnicode_FromFormat(i == 0 ? "%zd" : ",%zd",
                                                        extent)) < 0) {
            status = -1;
        }
    }
    if (status > 0 && walk_text(walk, PyUnicode_FromString(")")) < 0) {
        status = -1;
    }
    Py_DECREF(extents);
    return status;
}

/* One number, text or gap. */
static int
walk_plain(struct walk *walk, PyObject *typestr, Py_ssize_t *size)
{
    struct ha_format format;
    char text[HA_FORMAT_TEXT_CHARS];
    int status = ha_typestr_parse(typestr, &format);
    if (status <= 0) {
        return status;
    }
    if (format.kind == 'O' || format.size < 0) {
        return 0;
    }
    *size = format.size;
    ha_format_buffer(&format, text);
    bool is_native = ha_format_is_native(&format);
    bool is_number = strchr("biufc", format.kind) != NULL;
    if (format.extended != 0 || strchr("Mm", format.kind) != NULL ||
        (is_number && text[strlen(text) - 1] == 'x') ||
        (!is_native && text[strlen(text) - 1] == 'g')) {
        walk->has_format = false;
    }
    /* "^" is this machine's sizes and order without gaps; of the other order there is
     * ">" in the text already. */
    return walk_text(walk, PyUnicode_FromFormat("%s%s", is_native ? "^" : "", text)) < 0
               ? -1
               : 1;
}

/* The name of a field: 1, or 0 where it is none.  A pair has a title, which formats
 * leave out. */
static int
walk_name(PyObject *name, PyObject **plain)
{
    if (PyTuple_CheckExact(name) && PyTuple_GET_SIZE(name) == 2) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(name, 0))) {
            return 0;
        }
        name = PyTuple_GET_ITEM(name, 1);
    }
    *plain = name;
    return PyUnicode_CheckExact(name);
}

/* ":name:", unless this is a gap, which has none. */
static int
walk_name_text(struct walk *walk, PyObject *name, PyObject *type)
{
    if (PyUnicode_GET_LENGTH(name) == 0) {
        walk->has_format = walk->has_format && PyUnicode_Check(type) &&
                           PyUnicode_FindChar(type, 'V', 0, 2, 1) >= 0;
        return 0;
    }
    if (PyUnicode_FindChar(name, ':', 0, PyUnicode_GET_LENGTH(name), 1) >= 0) {
        walk->has_format = false;
    }
    return walk_text(walk, PyUnicode_FromFormat(":%U:", name));
}

/* One entry; `copy` (owned) is out of reach of other code. */
static int
walk_field(struct walk *walk, PyObject *field, Py_ssize_t *size, PyObject **copy)
{
    Py_ssize_t bytes = 0, count = 1;
    PyObject *name, *inner = NULL;
    if (!PyTuple_CheckExact(field) || PyTuple_GET_SIZE(field) < 2 ||
        PyTuple_GET_SIZE(field) > 3) {
        return 0;
    }
    PyObject *type = PyTuple_GET_ITEM(field, 1);
    PyObject *shape = PyTuple_GET_SIZE(field) == 3 ? PyTuple_GET_ITEM(field, 2) : NULL;
    int status = walk_name(PyTuple_GET_ITEM(field, 0), &name);
    if (status > 0 && shape != NULL) {
        status = walk_shape(walk, shape, &count);
    }
    if (status > 0 && PyList_CheckExact(type)) {
        status = walk_fields(walk, type, &bytes, &inner);
    } else if (status > 0) {
        status = PyUnicode_CheckExact(type) ? walk_plain(walk, type, &bytes) : 0;
    }
    if (status > 0 && !add_bytes(size, count, bytes)) {
        status = 0;
    }
    if (status > 0 && walk_name_text(walk, name, type) < 0) {
        status = -1;
    }
    if (status > 0) {
        *copy = inner == NULL ? Py_NewRef(field)
                : shape == NULL
                    ? PyTuple_Pack(2, PyTuple_GET_ITEM(field, 0), inner)
                    : PyTuple_Pack(3, PyTuple_GET_ITEM(field, 0), inner, shape);
        status = *copy == NULL ? -1 : 1;
    }
    Py_XDECREF(inner);
    return status;
}

static int
walk_fields(struct walk *walk, PyObject *fields, Py_ssize_t *size, PyObject **out)
{
    PyObject *copy = NULL;
    if (++walk->depth > MAX_DEPTH) {
        return 0;
    }
    PyObject *list = PyList_New(0);
    int status =
        list == NULL || walk_text(walk, PyUnicode_FromString("T{")) < 0 ? -1 : 1;
    *size = 0;
    for (Py_ssize_t i = 0; status > 0 && i < PyList_GET_SIZE(fields); i++) {
        PyObject *field = ha_list_get(fields, i);
        status = field == NULL ? -1 : walk_field(walk, field, size, &copy);
        Py_XDECREF(field);
        if (status > 0) {
            status = PyList_Append(list, copy) < 0 ? -1 : 1;
            Py_CLEAR(copy);
        }
    }
    if (status > 0 && walk_text(walk, PyUnicode_FromString("}")) < 0) {
        status = -1;
    }
    walk->depth--;
    if (status > 0) {
        *out = list;
    } else {
        Py_XDECREF(list);
    }
    return status;
}

int
ha_elements_from_descr(PyObject *descr, Py_ssize_t *size, PyObject **out)
{
    struct walk walk = {.parts = PyList_New(0), .has_format = true};
    PyObject *copy = NULL, *format = NULL, *nothing = NULL;
    Py_ssize_t bytes;
    int status = walk.parts == NULL ? -1 : walk_fields(&walk, descr, &bytes, &copy);
    if (status > 0 && *size >= 0 && bytes != *size) {
        status = 0;
    }
    if (status > 0 && walk.has_format) {
        nothing = PyUnicode_FromString("");
        format = nothing == NULL ? NULL : PyUnicode_Join(nothing, walk.parts);
        status = format == NULL ? -1 : 1;
    }
    if (status > 0) {
        *out = PyTuple_Pack(2, copy, format == NULL ? Py_None : format);
        status = *out == NULL ? -1 : 1;
    }
    if (status > 0) {
        *size = bytes;
    }
    Py_XDECREF(nothing);
    Py_XDECREF(format);
    Py_XDECREF(copy);
    Py_XDECREF(walk.parts);
    return status;
}

/* ---- from a buffer format ---- */

struct reader {
    const char *at;
    char order;
    int depth;
};

/* One item of a format: a field, or a gap. */
struct item {
    PyObject *type;   /* owned: a typestr, or a list of fields; NULL for a gap */
    PyObject *shape;  /* owned tuple, or NULL */
    Py_ssize_t bytes; /* of all of it */
    Py_ssize_t align;
};

static PyObject *read_fields(struct reader *reader, Py_ssize_t *size,
                             Py_ssize_t *align);

static void
read_order(struct reader *reader)
{
    while (*reader->at != '\0' && strchr("@=<>^! ", *reader->at) != NULL) {
        if (*reader->at != ' ') {
            reader->order = *reader->at == '!' ? '>' : *reader->at;
        }
        reader->at++;
    }
}

/* -1 where there is no number, or a far too large one. */
static Py_ssize_t
read_number(struct reader *reader)
{
    Py_ssize_t number = -1;
    for (; *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        number = (number < 0 ? 0 : number) * 10 + (*reader->at - '0');
        if (number > (Py_ssize_t)1 << 40) {
            return -1;
        }
    }
    return number;
}

/* "(2,3)" into a list of ints and their product: 1, 0 or -1. */
static int
read_shape(struct reader *reader, PyObject *extents, Py_ssize_t *count)
{
    do {
        reader->at++; /* past "(" or "," */
        Py_ssize_t extent = read_number(reader);
        PyObject *item = PyLong_FromSsize_t(extent);
        int status = item == NULL ? -1 : PyList_Append(extents, item);
        Py_XDECREF(item);
        if (status < 0) {
            return -1;
        }
        if (extent < 0 || __builtin_mul_overflow(*count, extent, count)) {
            return 0;
        }
    } while (*reader->at == ',');
    return *reader->at++ == ')';
}

/* Bytes of a number; 0 for what is none. */
static Py_ssize_t
letter_bytes(char letter, char order)
{
    bool is_native = order == '@' || order == '^';
    switch (letter) {
    case '?':
    case 'b':
    case 'B':
    case 'c':
        return 1;
    case 'e':
    case 'h':
    case 'H':
        return 2;
    case 'f':
    case 'i':
    case 'I':
        return 4;
    case 'l':
    case 'L':
        return is_native ? (Py_ssize_t)sizeof(long) : 4;
    case 'd':
    case 'q':
    case 'Q':
        return 8;
    case 'g':
        return is_native ? (Py_ssize_t)sizeof(long double) : 0;
    default:
        return 0;
    }
}

/* The typestr of a number, text or gap with `count` before its letter; `unit` are the
 * bytes of one element: 1, 0 or -1. */
static int
read_plain(struct reader *reader, Py_ssize_t *count, Py_ssize_t *unit,
           struct item *item)
{
    char text[HA_FORMAT_TEXT_CHARS], code[5] = {0};
    struct ha_format format;
    bool is_complex = *reader->at == 'Z';
    char letter = reader->at[is_complex ? 1 : 0];
    if (letter == '\0') {
        return 0;
    }
    reader->at += is_complex ? 2 : 1;
    if (!is_complex && strchr("swx", letter) != NULL) {
        *unit = (letter == 'w' ? 4 : 1) * (*count < 0 ? 1 : *count);
        *count = -1;
        item->align = letter == 'w' ? 4 : 1;
    } else {
        item->align = letter_bytes(letter, reader->order);
        if (item->align == 0 || (is_complex && strchr("fdg", letter) == NULL)) {
            return 0;
        }
        *unit = item->align * (is_complex ? 2 : 1);
    }
    PyOS_snprintf(code, sizeof code, "%c%s%c",
                  reader->order == '@' || reader->order == '^' ? '=' : reader->order,
                  is_complex ? "Z" : "", letter);
    ha_format_from_buffer(code, *unit, &format);
    ha_format_typestr(&format, text);
    item->type = PyUnicode_FromString(text);
    return item->type == NULL ? -1 : 1;
}

static int
read_type(struct reader *reader, Py_ssize_t *count, Py_ssize_t *unit, struct item *item)
{
    if (reader->at[0] != 'T' || reader->at[1] != '{') {
        return read_plain(reader, count, unit, item);
    }
    reader->at += 2;
    item->type = read_fields(reader, unit, &item->align);
    if (item->type == NULL) {
        return PyErr_Occurred() == NULL ? 0 : -1;
    }
    return *reader->at == '}' ? (reader->at++, 1) : 0;
}

/* Shape, count and type; the name follows. */
static int
read_item(struct reader *reader, struct item *item)
{
    Py_ssize_t total = 1, unit = 0;
    int status = 1;
    PyObject *extents = PyList_New(0);
    if (extents == NULL) {
        return -1;
    }
    read_order(reader);
    if (*reader->at == '(') {
        status = read_shape(reader, extents, &total);
        read_order(reader);
    }
    Py_ssize_t count = read_number(reader);
    if (status > 0) {
        status = read_type(reader, &count, &unit, item);
    }
    if (status > 0 && count >= 0) { /* "3f" is an array of three */
        PyObject *extent = PyLong_FromSsize_t(count);
        status = extent == NULL || PyList_Append(extents, extent) < 0 ? -1 : 1;
        Py_XDECREF(extent);
        if (status > 0 && __builtin_mul_overflow(total, count, &total)) {
            status = 0;
        }
    }
    item->bytes = 0;
    if (status > 0 && !add_bytes(&item->bytes, total, unit)) {
        status = 0;
    }
    if (status > 0 && PyList_GET_SIZE(extents) > 0) {
        item->shape = PyList_AsTuple(extents);
        status = item->shape == NULL ? -1 : 1;
    }
    Py_DECREF(extents);
    return status;
}

/* ":name:" as a str: 1, 0 where there is none or it has no end, or -1. */
static int
read_name(struct reader *reader, PyObject **name)
{
    if (*reader->at != ':') {
        return 0;
    }
    const char *end = strchr(reader->at + 1, ':');
    if (end == NULL) {
        return 0;
    }
    *name = PyUnicode_FromStringAndSize(reader->at + 1, end - reader->at - 1);
    reader->at = end + 1;
    if (*name == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        return 0;
    }
    return *name == NULL ? -1 : 1;
}

static int
add_gap(PyObject *fields, Py_ssize_t *gap)
{
    int status = 0;
    if (*gap > 0) {
        PyObject *typestr = PyUnicode_FromFormat("|V%zd", *gap);
        PyObject *field = typestr == NULL ? NULL : Py_BuildValue("(sN)", "", typestr);
        status = field == NULL ? -1 : PyList_Append(fields, field);
        Py_XDECREF(field);
    }
    *gap = 0;
    return status;
}

/* One field or gap; `gap` are the bytes without a name before the next field. */
static int
read_field(struct reader *reader, PyObject *fields, Py_ssize_t *size, Py_ssize_t *align,
           Py_ssize_t *gap)
{
    struct item item = {.type = NULL};
    PyObject *name = NULL, *field = NULL;
    int status = read_item(reader, &item);
    bool is_gap =
        status > 0 && reader->at[-1] == 'x' && item.shape == NULL && *reader->at != ':';
    if (status > 0 && reader->order == '@') {
        Py_ssize_t before = (item.align - *size % item.align) % item.align;
        *gap += before;
        status = add_bytes(size, before, 1) && item.bytes % item.align == 0;
        *align = item.align > *align ? item.align : *align;
    }
    if (status > 0 && !add_bytes(size, item.bytes, 1)) {
        status = 0;
    }
    if (is_gap) {
        *gap += item.bytes;
    } else if (status > 0 && (status = read_name(reader, &name)) > 0) {
        status = add_gap(fields, gap) < 0 ? -1 : 1;
    }
    if (status > 0 && !is_gap) {
        field = item.shape == NULL ? PyTuple_Pack(2, name, item.type)
                                   : PyTuple_Pack(3, name, item.type, item.shape);
        status = field == NULL || PyList_Append(fields, field) < 0 ? -1 : 1;
    }
    Py_XDECREF(field);
    Py_XDECREF(name);
    Py_XDECREF(item.type);
    Py_XDECREF(item.shape);
    return status;
}

/* Fields up to "}": owned, or NULL: with an exception, or without where the format is
 * not understood. */
static PyObject *
read_fields(struct reader *reader, Py_ssize_t *size, Py_ssize_t *align)
{
    Py_ssize_t gap = 0;
    if (++reader->depth > MAX_DEPTH) {
        return NULL;
    }
    PyObject *fields = PyList_New(0);
    int status = fields == NULL ? -1 : 1;
    *size = 0;
    *align = 1;
    while (status > 0 && *reader->at != '}' && *reader->at != '\0') {
        status = read_field(reader, fields, size, align, &gap);
        read_order(reader);
    }
    if (status > 0 && reader->order == '@') { /* C's gap at the end */
        Py_ssize_t behind = (*align - *size % *align) % *align;
        gap += behind;
        status = add_bytes(size, behind, 1);
    }
    if (status > 0 && add_gap(fields, &gap) < 0) {
        status = -1;
    }
    reader->depth--;
    if (status <= 0) {
        Py_CLEAR(fields);
    }
    return fields;
}

int
ha_elements_from_format(const char *format, Py_ssize_t size, PyObject **out)
{
    struct reader reader = {.at = format, .order = '@'};
    struct item item = {.type = NULL};
    int status = read_item(&reader, &item);
    if (status > 0) {
        read_order(&reader);
        status = *reader.at == '\0' && item.bytes == size;
    }
    if (status > 0) {
        PyObject *text = PyUnicode_FromString(format);
        bool has_descr = PyList_Check(item.type) && item.shape == NULL;
        *out = text == NULL ? NULL
                            : PyTuple_Pack(2, has_descr ? item.type : Py_None, text);
        Py_XDECREF(text);
        status = *out == NULL ? -1 : 1;
    }
    Py_XDECREF(item.type);
    Py_XDECREF(item.shape);
    return status;
}

/* Whether a format, as it is read, says the same as a descr: 1, 0 or -1.  numpy writes
 * some that its own reader takes for other offsets. */
static int
is_same(PyObject *read, PyObject *other)
{
    PyObject *descr = PyTuple_GET_ITEM(read, 0), *again = NULL;
    Py_ssize_t size = -1;
    if (descr == Py_None) {
        return 0;
    }
    int status = ha_elements_from_descr(descr, &size, &again);
    if (status > 0) {
        status = PyObject_RichCompareBool(PyTuple_GET_ITEM(again, 1),
                                          PyTuple_GET_ITEM(other, 1), Py_EQ);
        Py_DECREF(again);
    }
    return status;
}

int
ha_elements_merge(PyObject **elements, PyObject *other)
{
    if (!ha_elements_check(other)) {
        return 0;
    }
    PyObject *merged = NULL;
    int same = *elements == NULL ? 0 : is_same(*elements, other);
    if (same == 0) {
        merged = Py_NewRef(other);
    } else if (same > 0) {
        merged =
            PyTuple_Pack(2, PyTuple_GET_ITEM(other, 0), PyTuple_GET_ITEM(*elements, 1));
    }
    if (merged == NULL) {
        return -1;
    }
    Py_XSETREF(*elements, merged);
    return 0;
}

/* ---- what is kept ---- */

static PyObject *
copy_fields(PyObject *fields)
{
    PyObject *copy = PyList_New(PyList_GET_SIZE(fields));
    for (Py_ssize_t i = 0; copy != NULL && i < PyList_GET_SIZE(fields); i++) {
        PyObject *field = PyList_GET_ITEM(fields, i);
        PyObject *type = PyTuple_GET_ITEM(field, 1);
        PyObject *same = NULL;
        if (PyUnicode_Check(type)) {
            same = Py_NewRef(field);
        } else if ((type = copy_fields(type)) != NULL) {
            same = PyTuple_GET_SIZE(field) == 2
                       ? PyTuple_Pack(2, PyTuple_GET_ITEM(field, 0), type)
                       : PyTuple_Pack(3, PyTuple_GET_ITEM(field, 0), type,
                                      PyTuple_GET_ITEM(field, 2));
            Py_DECREF(type);
        }
        if (same == NULL) {
            Py_CLEAR(copy);
        } else {
            PyList_SET_ITEM(copy, i, same);
        }
    }
    return copy;
}

PyObject *
ha_elements_descr(PyObject *elements)
{
    PyObject *descr = PyTuple_GET_ITEM(elements, 0);
    return descr == Py_None ? NULL : copy_fields(descr);
}

const char *
ha_elements_format(PyObject *elements)
{
    PyObject *format = PyTuple_GET_ITEM(elements, 1);
    return format == Py_None ? NULL : PyUnicode_AsUTF8(format);
}
