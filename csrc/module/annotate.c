/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/annotate.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "adapters/together.h"
#include "core/dl.h"

#define OWN "_lib/libroctx64.so.4"

/* Found once; published, `there` at the end. */
static struct {
    bool there;
    int (*push)(const char *message);
    int (*pop)(void);
} roctx;

/* What the program has loaded comes first: tools that see it see these ranges, too. */
static void *
find_library(struct ha_dl_tried *tried)
{
    static const char *const loaded[] = {"librocprofiler-sdk-roctx.so.1",
                                         "libroctx64.so.4"};
    char path[1024] = OWN;

    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) {
        void *library = dlopen(loaded[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            return library;
        }
    }
    /* AMD's profiler hears of AMD's ranges alone. */
    void *sdk = dlopen("librocprofiler-sdk.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (sdk != NULL && dlsym(sdk, "hipadapt_rocprofiler_finalize") == NULL) {
        void *library = ha_dl_open(loaded[0], RTLD_LAZY | RTLD_LOCAL, tried);
        if (library != NULL) {
            return library;
        }
    }
    (void)ha_dl_beside(&roctx, OWN, path, sizeof path);
    return ha_dl_open(path, RTLD_LAZY | RTLD_LOCAL, tried);
}

static bool
need(void)
{
    struct ha_dl_tried tried = {.used = 0};

    if (HA_READ(roctx.there)) {
        return true;
    }
    void *library = find_library(&tried);
    if (library == NULL) {
        PyErr_Format(PyExc_RuntimeError, "annotate: roctx can't be loaded: %s",
                     tried.text);
        return false;
    }
    void *begin = dlsym(library, "roctxRangePushA");
    void *end = dlsym(library, "roctxRangePop");
    if (begin == NULL || end == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "annotate: roctx lacks its ranges");
        return false;
    }
    HA_PUBLISH(*(void **)&roctx.push, begin);
    HA_PUBLISH(*(void **)&roctx.pop, end);
    HA_PUBLISH(roctx.there, true);
    return true;
}

/* With the GIL: a tool of Python's takes it itself, and others wait for nobody. */
static PyObject *
push(PyObject *Py_UNUSED(module), PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        return PyErr_Format(PyExc_TypeError,
                            "annotate: argument 'name' must be a str, not '%.200s'",
                            Py_TYPE(name)->tp_name);
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL || !need()) {
        return NULL;
    }
    (void)roctx.push(text);
    Py_RETURN_NONE;
}

static PyObject *
pop(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    if (HA_READ(roctx.there)) {
        (void)roctx.pop();
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"annotate_push", push, METH_O,
     "annotate_push($module, name, /)\n--\n\nBegins a range of roctx."},
    {"annotate_pop", pop, METH_NOARGS,
     "annotate_pop($module, /)\n--\n\nEnds this thread's innermost range."},
    {NULL, NULL, 0, NULL},
};

int
ha_annotate_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
