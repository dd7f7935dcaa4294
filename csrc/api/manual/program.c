/* SPDX-License-Identifier: MIT */
/* hiprtc calls that write as much as they like, and the end of a program. */
#include "api/generated/wrappers.h"

#include "adapters/adapter.h"
#include "adapters/handle.h"
#include "adapters/message.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/generated/calls.h"
#include "api/generated/tables.h"
#include "api/keep.h"
#include "api/provider.h"

typedef hiprtcResult (*size_call)(hiprtcProgram, size_t *);
typedef hiprtcResult (*text_call)(hiprtcProgram, char *);

/* hiprtc writes all it has; so its size is asked for before it may write. */
static PyObject *
write_out(struct ha_api *api, PyObject *const *args, const struct ha_where *where,
          size_call size_of, text_call write, const char *size_name)
{
    PyObject *result = NULL;
    struct ha_view program, memory;
    hiprtcResult status = HIPRTC_ERROR_INTERNAL_ERROR;
    size_t bytes = 0;

    ha_view_init(&program);
    ha_view_init(&memory);
    if (ha_handle_from(&api->types, args[0], &where[0], HA_HANDLE__hiprtcProgram,
                       &program) < 0 ||
        ha_ptr_from(&api->types, args[1], &where[1], HA_WRITE, &memory) < 0) {
        goto done;
    }
    if (size_of != NULL && write != NULL) {
        PyThreadState *thread = PyEval_SaveThread();
        status = size_of(program.ptr, &bytes);
        PyEval_RestoreThread(thread);
        if (status == HIPRTC_SUCCESS &&
            (ha_need_bytes(&memory, &where[1], bytes, size_name) < 0 ||
             ha_need_memory(&memory, &where[1], bytes, 1) < 0)) {
            goto done;
        }
        if (status == HIPRTC_SUCCESS) {
            thread = PyEval_SaveThread();
            status = write(program.ptr, memory.ptr);
            PyEval_RestoreThread(thread);
        }
    }
    if (status != HIPRTC_SUCCESS && PyErr_Occurred()) {
        goto done;
    }
    result = ha_rtc_result(&api->enums, (int)status);
done:
    ha_view_release(&memory);
    ha_view_release(&program);
    return result;
}

#define WRITE_OUT(name, argument, size)                                                \
    PyObject *ha_wrap_##name(PyObject *module, PyObject *const *args,                  \
                             Py_ssize_t count, PyObject *keywords)                     \
    {                                                                                  \
        static const struct ha_where where[] = {{#name, "prog"}, {#name, argument}};   \
        PyObject *bound[2];                                                            \
        if (keywords != NULL || count != 2) {                                          \
            if (ha_bind(where, 2, args, count, keywords, bound) < 0) {                 \
                return NULL;                                                           \
            }                                                                          \
            args = bound;                                                              \
        }                                                                              \
        if (ha_provider_need(HA_CALL_##name) < 0) {                                    \
            return NULL;                                                               \
        }                                                                              \
        return write_out(ha_api_of(module), args, where, ha_calls.size, ha_calls.name, \
                         #size);                                                       \
    }

WRITE_OUT(hiprtcGetProgramLog, "log", hiprtcGetProgramLogSize)
WRITE_OUT(hiprtcGetCode, "code", hiprtcGetCodeSize)
WRITE_OUT(hiprtcGetBitcode, "bitcode", hiprtcGetBitcodeSize)

/* C takes the address of the handle.  Python passes the program itself, or such an
 * address (prog.createRef()). */
PyObject *
ha_wrap_hiprtcDestroyProgram(PyObject *module, PyObject *const *args, Py_ssize_t count,
                             PyObject *keywords)
{
    static const struct ha_where where[] = {{"hiprtcDestroyProgram", "prog"}};
    struct ha_api *api = ha_api_of(module);
    PyObject *bound[1], *result = NULL;
    struct ha_view program;
    hiprtcResult status = HIPRTC_ERROR_INTERNAL_ERROR;

    if (keywords != NULL || count != 1) {
        if (ha_bind(where, 1, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    PyTypeObject *program_type = ha_handle_type(&api->types, HA_HANDLE__hiprtcProgram);
    if (program_type == NULL) {
        return NULL;
    }
    ha_view_init(&program);
    bool is_program = PyObject_TypeCheck(args[0], program_type);
    if (ha_ptr_from(&api->types, args[0], &where[0], is_program ? 0 : HA_WRITE,
                    &program) < 0) {
        goto done;
    }
    if (!is_program &&
        ha_need_bytes(&program, &where[0], sizeof(void *), "a handle") < 0) {
        goto done;
    }
    if (!is_program &&
        ha_need_memory(&program, &where[0], sizeof(void *), sizeof(void *)) < 0) {
        goto done;
    }
    hiprtcProgram handle = program.ptr;
    hiprtcProgram *address = is_program ? &handle : program.ptr;
    void *key = address != NULL ? *address : NULL;
    int ready = ha_provider_need(HA_CALL_hiprtcDestroyProgram);
    if (ready < 0) {
        goto done;
    }
    if (ready) {
        PyThreadState *thread = PyEval_SaveThread();
        status = ha_calls.hiprtcDestroyProgram(address);
        PyEval_RestoreThread(thread);
    }
    if (status == HIPRTC_SUCCESS) {
        ha_keep_drop(api, key);
    }
    result = ha_rtc_result(&api->enums, (int)status);
done:
    ha_view_release(&program);
    return result;
}
