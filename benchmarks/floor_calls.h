/* SPDX-License-Identifier: MIT */
/* The floor of a sample of the API: functions of every family and of every kind of
 * argument, each as one would write it by hand, in the terms of floor.c.
 *
 * FLOOR(name, number of arguments, conversions, the C call, the result).  In the
 * conversions H(i) and P(i) are a handle or pointer, N(i) a number, T(i) text, D(i) three
 * numbers; each is true on failure.  In the call A(i) is an address, V(i) a number, and
 * `i`, `z`, `p` and `f` are outputs: int, size_t, pointer, float. */

#define ARGUMENTS_MAX 7

struct arguments {
    struct source source[ARGUMENTS_MAX];
    long long number[ARGUMENTS_MAX];
    const char *text[ARGUMENTS_MAX];
    unsigned triple[ARGUMENTS_MAX][3];
};

struct dim {
    unsigned x, y, z;
};

static int
number_from(PyObject *object, long long *number)
{
    *number = PyLong_AsLongLong(object);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int
text_from(PyObject *object, const char **text)
{
    *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    if (*text == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "needs a text");
    }
    return *text == NULL ? -1 : 0;
}

static int
triple_from(PyObject *object, unsigned *triple)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 3) {
        PyErr_SetString(PyExc_TypeError, "needs a tuple of three numbers");
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        long long number;
        if (number_from(PyTuple_GET_ITEM(object, i), &number) < 0) {
            return -1;
        }
        triple[i] = (unsigned)number;
    }
    return 0;
}

static PyObject *
pointer_result(int status, void *address, PyTypeObject *type)
{
    Pointer *pointer = PyObject_New(Pointer, type);
    if (pointer != NULL) {
        pointer->address = address;
        pointer->view.obj = NULL;
    }
    return result_with(status, (PyObject *)pointer);
}

static PyObject *
two_results(int status, PyObject *first, PyObject *second)
{
    PyObject *result = first != NULL && second != NULL ? PyTuple_New(3) : NULL;
    PyObject *code = status >= 0 && status < STATUS_MAX ? statuses[status] : NULL;
    if (result == NULL || code == NULL) {
        Py_XDECREF(result);
        Py_XDECREF(first);
        Py_XDECREF(second);
        return NULL;
    }
    PyTuple_SET_ITEM(result, 0, Py_NewRef(code));
    PyTuple_SET_ITEM(result, 1, first);
    PyTuple_SET_ITEM(result, 2, second);
    return result;
}

#define H(i) source_from(args[i], &a.source[i]) < 0
#define P(i) source_from(args[i], &a.source[i]) < 0
#define N(i) number_from(args[i], &a.number[i]) < 0
#define T(i) text_from(args[i], &a.text[i]) < 0
#define D(i) triple_from(args[i], a.triple[i]) < 0
#define A(i) a.source[i].address
#define V(i) a.number[i]
#define DIM(j) ((struct dim){a.triple[j][0], a.triple[j][1], a.triple[j][2]})
#define CALL(type) ((int (*) type)function)
#define STATUS result_of(status)
#define INT result_with(status, PyLong_FromLong(i[0]))
#define SIZE result_with(status, PyLong_FromSize_t(z[0]))
#define POINTER pointer_result(status, p, &pointer_type)
#define DEVICE pointer_result(status, p, &device_type)
#define FLOAT result_with(status, PyFloat_FromDouble((double)f))
#define INTS two_results(status, PyLong_FromLong(i[0]), PyLong_FromLong(i[1]))
#define SIZES two_results(status, PyLong_FromSize_t(z[0]), PyLong_FromSize_t(z[1]))

#define SAMPLE(FLOOR)                                                                  \
    FLOOR(hipDeviceGetAttribute, 2, N(0) || N(1),                                      \
          CALL((int *, int, int))(i, (int)V(0), (int)V(1)), INT)                       \
    FLOOR(hipDeviceTotalMem, 1, N(0), CALL((size_t *, int))(z, (int)V(0)), SIZE)       \
    FLOOR(hipDeviceGetStreamPriorityRange, 0, 0, CALL((int *, int *))(&i[0], &i[1]),   \
          INTS)                                                                        \
    FLOOR(hipSetDevice, 1, N(0), CALL((int))((int)V(0)), STATUS)                       \
    FLOOR(hipDrvGetErrorName, 1, N(0), CALL((int, void **))((int)V(0), &p), POINTER)   \
    FLOOR(hipEventRecord, 2, H(0) || H(1), CALL((void *, void *))(A(0), A(1)), STATUS) \
    FLOOR(hipEventElapsedTime, 2, H(0) || H(1),                                        \
          CALL((float *, void *, void *))(&f, A(0), A(1)), FLOAT)                      \
    FLOOR(hipEventCreateWithFlags, 1, N(0),                                            \
          CALL((void **, unsigned))(&p, (unsigned)V(0)), POINTER)                      \
    FLOOR(hipStreamGetPriority, 1, H(0), CALL((void *, int *))(A(0), i), INT)          \
    FLOOR(hipStreamWaitEvent, 3, H(0) || H(1) || N(2),                                 \
          CALL((void *, void *, unsigned))(A(0), A(1), (unsigned)V(2)), STATUS)        \
    FLOOR(hipMemset, 3, P(0) || N(1) || N(2),                                          \
          CALL((void *, int, size_t))(A(0), (int)V(1), (size_t)V(2)), STATUS)          \
    FLOOR(hipMemsetAsync, 4, P(0) || N(1) || N(2) || H(3),                             \
          CALL((void *, int, size_t, void *))(A(0), (int)V(1), (size_t)V(2), A(3)),    \
          STATUS)                                                                      \
    FLOOR(hipMemcpyDtoD, 3, P(0) || P(1) || N(2),                                      \
          CALL((void *, void *, size_t))(A(0), A(1), (size_t)V(2)), STATUS)            \
    FLOOR(hipMemcpy2D, 7, P(0) || N(1) || P(2) || N(3) || N(4) || N(5) || N(6),        \
          CALL((void *, size_t, void *, size_t, size_t, size_t, int))(                 \
              A(0), (size_t)V(1), A(2), (size_t)V(3), (size_t)V(4), (size_t)V(5),      \
              (int)V(6)),                                                              \
          STATUS)                                                                      \
    FLOOR(hipMemGetInfo, 0, 0, CALL((size_t *, size_t *))(&z[0], &z[1]), SIZES)        \
    FLOOR(hipHostGetDevicePointer, 2, P(0) || N(1),                                    \
          CALL((void **, void *, unsigned))(&p, A(0), (unsigned)V(1)), POINTER)        \
    FLOOR(hipMallocAsync, 2, N(0) || H(1),                                             \
          CALL((void **, size_t, void *))(&p, (size_t)V(0), A(1)), DEVICE)             \
    FLOOR(hipMemPoolTrimTo, 2, H(0) || N(1),                                           \
          CALL((void *, size_t))(A(0), (size_t)V(1)), STATUS)                          \
    FLOOR(hipModuleGetFunction, 2, H(0) || T(1),                                       \
          CALL((void **, void *, const char *))(&p, A(0), a.text[1]), POINTER)         \
    FLOOR(hipFuncGetAttribute, 2, N(0) || H(1),                                        \
          CALL((int *, int, void *))(i, (int)V(0), A(1)), INT)                         \
    FLOOR(hipOccupancyMaxActiveBlocksPerMultiprocessor, 3, P(0) || N(1) || N(2),       \
          CALL((int *, void *, int, size_t))(i, A(0), (int)V(1), (size_t)V(2)), INT)   \
    FLOOR(hipConfigureCall, 4, D(0) || D(1) || N(2) || H(3),                           \
          CALL((struct dim, struct dim, size_t, void *))(DIM(0), DIM(1), (size_t)V(2), \
                                                         A(3)),                        \
          STATUS)                                                                      \
    FLOOR(hipMemAddressFree, 2, P(0) || N(1),                                          \
          CALL((void *, size_t))(A(0), (size_t)V(1)), STATUS)                          \
    FLOOR(hipMemMap, 5, P(0) || N(1) || N(2) || H(3) || N(4),                          \
          CALL((void *, size_t, size_t, void *, unsigned long long))(                  \
              A(0), (size_t)V(1), (size_t)V(2), A(3), (unsigned long long)V(4)),       \
          STATUS)                                                                      \
    FLOOR(hipMemcpyToArray, 6, H(0) || N(1) || N(2) || P(3) || N(4) || N(5),           \
          CALL((void *, size_t, size_t, void *, size_t, int))(                         \
              A(0), (size_t)V(1), (size_t)V(2), A(3), (size_t)V(4), (int)V(5)),        \
          STATUS)                                                                      \
    FLOOR(hipTexRefSetFlags, 2, P(0) || N(1),                                          \
          CALL((void *, unsigned))(A(0), (unsigned)V(1)), STATUS)                      \
    FLOOR(hipCtxSetCurrent, 1, H(0), CALL((void *))(A(0)), STATUS)                     \
    FLOOR(hipGraphLaunch, 2, H(0) || H(1), CALL((void *, void *))(A(0), A(1)), STATUS) \
    FLOOR(hipGraphAddDependencies, 4, H(0) || P(1) || P(2) || N(3),                    \
          CALL((void *, void *, void *, size_t))(A(0), A(1), A(2), (size_t)V(3)),      \
          STATUS)                                                                      \
    FLOOR(hipMemcpyToSymbol, 5, P(0) || P(1) || N(2) || N(3) || N(4),                  \
          CALL((void *, void *, size_t, size_t, int))(A(0), A(1), (size_t)V(2),        \
                                                      (size_t)V(3), (int)V(4)),        \
          STATUS)                                                                      \
    FLOOR(hipLibraryGetKernel, 2, H(0) || T(1),                                        \
          CALL((void **, void *, const char *))(&p, A(0), a.text[1]), POINTER)         \
    FLOOR(hiprtcGetProgramLogSize, 1, H(0), CALL((void *, size_t *))(A(0), z), SIZE)   \
    FLOOR(hipDestroyExternalSemaphore, 1, P(0), CALL((void *))(A(0)), STATUS)          \
    FLOOR(hipProfilerStart, 0, 0, CALL((void))(), STATUS)

#define DEFINE(name, wanted, conversions, call, answer)                                \
    static void *address_of_##name;                                                    \
    static PyObject *floor_##name(PyObject *module, PyObject *const *args,             \
                                  Py_ssize_t count)                                    \
    {                                                                                  \
        PyObject *result = NULL;                                                       \
        struct arguments a;                                                            \
        void *function = address_of_##name, *p = NULL;                                 \
        int status, i[2] = {0, 0};                                                     \
        size_t z[2] = {0, 0};                                                          \
        float f = 0;                                                                   \
        (void)module, (void)args, (void)a, (void)i, (void)z, (void)p, (void)f;         \
        if (count != (wanted)) {                                                       \
            PyErr_SetString(PyExc_TypeError, #name " needs " #wanted " arguments");    \
            return NULL;                                                               \
        }                                                                              \
        for (int n = 0; n < (wanted); n++) {                                           \
            a.source[n].view.obj = NULL;                                               \
        }                                                                              \
        if (!(conversions)) {                                                          \
            Py_BEGIN_ALLOW_THREADS                                                     \
            status = call;                                                             \
            Py_END_ALLOW_THREADS                                                       \
            result = answer;                                                           \
        }                                                                              \
        for (int n = 0; n < (wanted); n++) {                                           \
            source_release(&a.source[n]);                                              \
        }                                                                              \
        return result;                                                                 \
    }

SAMPLE(DEFINE)

#define METHOD(name, wanted, conversions, call, answer)                                \
    {#name, (PyCFunction)(void (*)(void))floor_##name, METH_FASTCALL, NULL},
#define LOAD(name, wanted, conversions, call, answer)                                  \
    if (load_symbol(library, #name, &address_of_##name) < 0) {                         \
        return NULL;                                                                   \
    }
