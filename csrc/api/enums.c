/* SPDX-License-Identifier: MIT */
#include "api/enums.h"

#include <stdbool.h>
#include <string.h>

#include "adapters/message.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/call.h"
#include "api/generated/enums.h"

static void
visit_slots(PyObject **slots, int count, int *result, visitproc visit, void *arg)
{
    for (int i = 0; i < count && *result == 0; i++) {
        if (slots[i] != NULL) {
            *result = visit(slots[i], arg);
        }
    }
}

int
ha_enums_traverse(struct ha_enums *enums, visitproc visit, void *arg)
{
    int result = 0;

    visit_slots(enums->classes, HA_ENUM_COUNT, &result, visit, arg);
    visit_slots(enums->hip_members, HA_HIP_CODES, &result, visit, arg);
    visit_slots(enums->hip_results, HA_HIP_CODES, &result, visit, arg);
    visit_slots(enums->rtc_members, HA_RTC_CODES, &result, visit, arg);
    visit_slots(enums->rtc_results, HA_RTC_CODES, &result, visit, arg);
    return result;
}

static void
clear_slots(PyObject **slots, int count)
{
    for (int i = 0; i < count; i++) {
        Py_CLEAR(slots[i]);
    }
}

void
ha_enums_clear(struct ha_enums *enums)
{
    clear_slots(enums->classes, HA_ENUM_COUNT);
    clear_slots(enums->hip_members, HA_HIP_CODES);
    clear_slots(enums->hip_results, HA_HIP_CODES);
    clear_slots(enums->rtc_members, HA_RTC_CODES);
    clear_slots(enums->rtc_results, HA_RTC_CODES);
}

int
ha_enum_find(const char *name)
{
    for (int which = 0; which < HA_ENUM_COUNT; which++) {
        if (strcmp(ha_enum_entries[which].name, name) == 0) {
            return which;
        }
    }
    return -1;
}

/* Calls hipadapt._enum.<name>(...); the module is small and imports enum. */
static PyObject *
call_helper(const char *name, const char *format, ...)
{
    PyObject *module = NULL, *function = NULL, *arguments = NULL, *result = NULL;
    va_list values;

    va_start(values, format);
    module = PyImport_ImportModule("hipadapt._enum");
    if (module == NULL) {
        goto done;
    }
    function = PyObject_GetAttrString(module, name);
    if (function == NULL) {
        goto done;
    }
    arguments = Py_VaBuildValue(format, values);
    if (arguments == NULL) {
        goto done;
    }
    result = PyObject_CallObject(function, arguments);
done:
    va_end(values);
    Py_XDECREF(arguments);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return result;
}

/* Statuses, which calls of all threads return, of a class that nobody else has yet. */
static int
keep_members(PyObject *class, const struct ha_enum_entry *entry)
{
    for (int i = 0; i < entry->count; i++) {
        PyObject *member = PyObject_GetAttrString(class, entry->members[i].name);
        if (member == NULL) {
            return -1;
        }
        ha_keep_for_good(member);
        Py_DECREF(member);
    }
    return 0;
}

static PyObject *
make_class(enum ha_enum which)
{
    const struct ha_enum_entry *entry = &ha_enum_entries[which];
    PyObject *members = PyList_New(entry->count);

    if (members == NULL) {
        return NULL;
    }
    for (int i = 0; i < entry->count; i++) {
        PyObject *pair = Py_BuildValue("(sL)", entry->members[i].name,
                                       (long long)entry->members[i].value);
        if (pair == NULL) {
            Py_DECREF(members);
            return NULL;
        }
        PyList_SET_ITEM(members, i, pair);
    }
    PyObject *made = call_helper("make", "(ssO)", entry->module, entry->name, members);
    Py_DECREF(members);
    bool status = which == HA_ENUM_hipError_t || which == HA_ENUM_hiprtcResult;
    if (made != NULL && status && keep_members(made, entry) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

PyObject *
ha_enum_class(struct ha_enums *enums, enum ha_enum which)
{
    PyObject *class = HA_READ(enums->classes[which]);

    if (class == NULL && (class = make_class(which)) != NULL) {
        /* Making it ran Python code, and another thread may have been here as well. */
        class = ha_publish_once(&enums->classes[which], class);
    }
    return class;
}

static bool
is_member(enum ha_enum which, long long value)
{
    const struct ha_enum_entry *entry = &ha_enum_entries[which];

    for (int i = 0; i < entry->count; i++) {
        if (entry->members[i].value == value) {
            return true;
        }
    }
    return false;
}

PyObject *
ha_enum_value(struct ha_enums *enums, enum ha_enum which, long long value)
{
    /* The items of a result are made in any order: after one of them has failed, no
     * Python code may run for the others. */
    if (PyErr_Occurred()) {
        return NULL;
    }
    PyObject *class = ha_enum_class(enums, which);
    if (class == NULL) {
        return NULL;
    }
    if (is_member(which, value)) {
        return PyObject_CallFunction(class, "L", value);
    }
    return call_helper("unknown", "(OL)", class, value);
}

int
ha_enum_arg(struct ha_enums *enums, enum ha_enum which, PyObject *object,
            const struct ha_where *where, int *value)
{
    const struct ha_enum_entry *entry = &ha_enum_entries[which];
    PyObject *index = NULL;
    int overflow = 0;

    if ((PyObject *)Py_TYPE(object) == HA_READ(enums->classes[which])) {
        /* The C enum is 32 bits wide; its values above INT_MAX wrap as C's do. */
        *value = (int)PyLong_AsLongLong(object);
        return 0;
    }
    bool plain =
        PyLong_CheckExact(object) || (!PyLong_Check(object) && PyIndex_Check(object));
    if (!plain) {
        PyErr_Format(PyExc_TypeError, "%s: argument '%s' must be %s or int, not '%s'",
                     where->function, where->argument, entry->name,
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    index = PyNumber_Index(object);
    if (index == NULL) {
        return -1;
    }
    long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (number == -1 && PyErr_Occurred()) {
        Py_DECREF(index);
        return -1;
    }
    if (overflow != 0 || !is_member(which, number)) {
        PyErr_Format(PyExc_ValueError, "%s: argument '%s': %R is no value of %s",
                     where->function, where->argument, index, entry->name);
        Py_DECREF(index);
        return -1;
    }
    Py_DECREF(index);
    *value = (int)number;
    return 0;
}

static PyObject **
slots_of(struct ha_enums *enums, enum ha_enum which, int code, bool results)
{
    bool rtc = which == HA_ENUM_hiprtcResult;
    unsigned limit = rtc ? HA_RTC_CODES : HA_HIP_CODES;

    if ((unsigned)code >= limit) {
        return NULL;
    }
    if (rtc) {
        return &(results ? enums->rtc_results : enums->rtc_members)[code];
    }
    return &(results ? enums->hip_results : enums->hip_members)[code];
}

static PyObject *
make_status(struct ha_enums *enums, enum ha_enum which, int code)
{
    PyObject *member = ha_enum_value(enums, which, code);
    PyObject **slot = slots_of(enums, which, code, false);

    if (member != NULL && slot != NULL && is_member(which, code)) {
        (void)ha_publish_once(slot, Py_NewRef(member));
    }
    return member;
}

static PyObject *
make_result(struct ha_enums *enums, enum ha_enum which, int code)
{
    PyObject **slot = slots_of(enums, which, code, true);
    PyObject *member = make_status(enums, which, code);

    if (member == NULL) {
        return NULL;
    }
    PyObject *result = PyTuple_Pack(1, member);
    Py_DECREF(member);
    if (result == NULL || slot == NULL || !is_member(which, code)) {
        return result;
    }
    ha_keep_for_good(result);
    return Py_NewRef(ha_publish_once(slot, result));
}

int
ha_enum_inout(struct ha_enums *enums, enum ha_enum which, struct ha_types *types,
              PyObject *object, const struct ha_where *where, struct ha_view *view,
              int *cell)
{
    ha_view_init(view);
    return ha_is_cell(types, object)
               ? ha_cell_from(types, object, where, sizeof *cell, view)
               : ha_enum_arg(enums, which, object, where, cell);
}

PyObject *
ha_hip_status(struct ha_enums *enums, int code)
{
    PyObject *made =
        (unsigned)code < HA_HIP_CODES ? HA_READ(enums->hip_members[code]) : NULL;

    if (made != NULL) {
        return Py_NewRef(made);
    }
    return make_status(enums, HA_ENUM_hipError_t, code);
}

PyObject *
ha_hip_result(struct ha_enums *enums, int code)
{
    PyObject *made =
        (unsigned)code < HA_HIP_CODES ? HA_READ(enums->hip_results[code]) : NULL;

    if (made != NULL) {
        return Py_NewRef(made);
    }
    return make_result(enums, HA_ENUM_hipError_t, code);
}

PyObject *
ha_rtc_status(struct ha_enums *enums, int code)
{
    PyObject *made =
        (unsigned)code < HA_RTC_CODES ? HA_READ(enums->rtc_members[code]) : NULL;

    if (made != NULL) {
        return Py_NewRef(made);
    }
    return make_status(enums, HA_ENUM_hiprtcResult, code);
}

PyObject *
ha_rtc_result(struct ha_enums *enums, int code)
{
    PyObject *made =
        (unsigned)code < HA_RTC_CODES ? HA_READ(enums->rtc_results[code]) : NULL;

    if (made != NULL) {
        return Py_NewRef(made);
    }
    return make_result(enums, HA_ENUM_hiprtcResult, code);
}
