/* SPDX-License-Identifier: MIT */
#include "api/provider.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "adapters/together.h"
#include "api/generated/calls.h"
#include "api/provider_find.h"
#include "api/stack_text.h"
#include "core/env.h"
#include "core/env_check.h"
#include "core/status.h"

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool loading_here;
static _Thread_local bool forking_here; /* has the load lock for a fork */
static bool wanted;                     /* a provider was asked for; published */
static struct ha_provider provider; /* complete and constant once kind is published */
static struct ha_guard publishing;  /* of writing `provider` and ha_calls */

/* This thread's last call of a function that the provider lacks. */
static _Thread_local struct {
    bool newest;      /* since the provider's text was `before` */
    char before[128]; /* beginning of that text */
} missing;

/* Starts the runtime, so that getters which keep the GIL never wait for that. */
static void
start(struct ha_provider_search *search)
{
    struct ha_provider *found = &search->found;
    int (*start_quietly)(void) = NULL;
    int count = 0;

    *(void **)&start_quietly = dlsym(found->hip, "hipadaptStart"); /* the CPU device */
    if (start_quietly != NULL) {
        found->version = start_quietly();
        return;
    }
    if (search->calls.hipGetDeviceCount != NULL) {
        (void)search->calls.hipGetDeviceCount(&count);
    }
    if (search->calls.hipRuntimeGetVersion == NULL ||
        search->calls.hipRuntimeGetVersion(&found->version) != hipSuccess) {
        found->version = 0;
    }
    if (search->calls.hipGetLastError != NULL) {
        (void)search->calls.hipGetLastError();
    }
}

static void
fill_calls(struct ha_provider_search *search)
{
    void **slots = (void **)&search->calls;

    for (int call = 0; call < HA_CALL_COUNT; call++) {
        const struct ha_call_entry *entry = &ha_call_entries[call];
        void *library = entry->rtc ? search->found.rtc : search->found.hip;
        const char *symbol = ha_call_symbol((enum ha_call)call);
        slots[call] = library != NULL ? dlsym(library, symbol) : NULL;
    }
}

/* How HIP counts: 6.2.41134 is 60241134. */
enum { HIP_MAJOR_STEP = 10000000, HIP_MINOR_STEP = 100000 };

/* Entry points whose records or codes had another meaning before this version. */
static void
drop_older(struct ha_provider_search *search)
{
    void **slots = (void **)&search->calls;

    for (int call = 0; call < HA_CALL_COUNT; call++) {
        if (search->found.version < ha_call_entries[call].least_version) {
            slots[call] = NULL;
        }
    }
}

/* The CPU device exports every function of HIP, so that programs load, and says of
 * which it has no more than the name. */
static void
drop_lacking(struct ha_provider_search *search)
{
    void **slots = (void **)&search->calls;

    for (int call = 0; search->found.lacks != NULL && call < HA_CALL_COUNT; call++) {
        if (search->found.lacks(ha_call_symbol((enum ha_call)call)) != 0) {
            slots[call] = NULL;
        }
    }
}

static int
interrupt_check(void)
{
    int stop = 0;

    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        /* A pending exception stays in this thread's state and is raised by the call
         * that waits, once it is back. */
        stop = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
        PyGILState_Release(gil);
    }
    return stop;
}

/* What only the CPU device understands. */
static void
introduce(struct ha_provider_search *search)
{
    struct ha_provider *found = &search->found;
    void (*set_compiler)(const char *) = NULL;
    void (*set_check)(int (*)(void)) = NULL;
    void (*set_stack)(size_t (*)(char *, size_t)) = NULL;

    *(void **)&found->error_text = dlsym(found->hip, "hipadaptGetErrorText");
    *(void **)&found->lacks = dlsym(found->hip, "hipadaptLacks");
    *(void **)&found->shutdown = dlsym(found->hip, "hipadaptShutdown");
    *(void **)&found->drain = dlsym(found->hip, "hipadaptDrain");
    *(void **)&set_compiler = dlsym(found->hip, "hipadaptSetCompiler");
    *(void **)&set_check = dlsym(found->hip, "hipadaptSetInterruptCheck");
    *(void **)&set_stack = dlsym(found->hip, "hipadaptSetStackText");
    *(void **)&found->owns = dlsym(found->hip, "hipadaptOwnsMemory");
    *(void **)&found->keeps = dlsym(found->hip, "hipadaptKeepsMemory");
    *(void **)&found->own_questions = dlsym(found->hip, "hipadaptOwnQuestions");
    *(void **)&found->image_size = dlsym(found->hip, "hipadaptImageSize");
    if (set_compiler != NULL && search->compiler[0] != '\0' &&
        ha_env(HA_ENV_COMPILER) == NULL) {
        set_compiler(search->compiler);
    }
    if (set_check != NULL) {
        set_check(interrupt_check);
    }
    if (set_stack != NULL) {
        void *wants = dlsym(found->hip, "hipadaptWantsStack");
        HA_PUBLISH(*(void **)&ha_stack_wanted, wants);
        set_stack(ha_stack_lines);
    }
}

static void before_fork(void);
static void after_fork(void);

/* Once more, behind what the library has registered: a fork takes the load lock before
 * the library's own locks, as a load does. */
static void
watch_forks_again(void)
{
    static bool watched; /* under the load lock */

    if (!watched) {
        watched = pthread_atfork(before_fork, after_fork, after_fork) == 0;
    }
}

/* Runs without the GIL, under the load lock. */
static void
load(struct ha_provider_search *search)
{
    if (!ha_provider_find(search)) {
        search->failed = true;
        return;
    }
    if (search->found.kind != HA_PROVIDER_CPU) {
        ha_env_warn(); /* the CPU device does so itself */
    }
    watch_forks_again();
    fill_calls(search);
    introduce(search);
    drop_lacking(search);
    start(search);
    drop_older(search);
}

static int
path_from(PyObject *text, char *path, size_t size)
{
    path[0] = '\0';
    if (text == NULL || text == Py_None || !PyUnicode_Check(text)) {
        return 0;
    }
    PyObject *bytes = PyUnicode_EncodeFSDefault(text);
    if (bytes == NULL) {
        return -1;
    }
    if ((size_t)PyBytes_GET_SIZE(bytes) < size) {
        memcpy(path, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes) + 1);
    }
    Py_DECREF(bytes);
    return 0;
}

/* The zig program of the ziglang package; "" where that package is not installed. */
static int
find_compiler(char *path, size_t size)
{
    int result = -1;
    PyObject *module = NULL, *program = NULL;

    path[0] = '\0';
    module = PyImport_ImportModule("hipadapt._compiler");
    if (module == NULL) {
        goto done;
    }
    program = PyObject_CallMethod(module, "zig_program", NULL);
    if (program == NULL) {
        goto done;
    }
    result = path_from(program, path, size);
done:
    Py_XDECREF(program);
    Py_XDECREF(module);
    return result;
}

static int
prepare(struct ha_provider_search *search)
{
    memset(search, 0, sizeof *search);
    PyObject *sys = PyImport_ImportModule("sys"), *interpreter = NULL;
    if (sys != NULL) {
        interpreter = PyObject_GetAttrString(sys, "executable");
        Py_DECREF(sys);
    }
    int status = interpreter == NULL ? -1
                                     : path_from(interpreter, search->interpreter,
                                                 sizeof search->interpreter);
    Py_XDECREF(interpreter);
    if (status < 0) {
        return -1;
    }
    if (ha_env(HA_ENV_COMPILER) != NULL) {
        return 0;
    }
    return find_compiler(search->compiler, sizeof search->compiler);
}

static bool
is_there(void)
{
    return HA_READ(provider.kind) != HA_PROVIDER_NONE;
}

/* `search` is finished; its result becomes the process's provider unless another thread
 * was first. */
static int
publish(struct ha_provider_search *search)
{
    if (is_there()) {
        return 0;
    }
    if (search->failed) {
        PyErr_Format(PyExc_RuntimeError,
                     "no HIP runtime could be loaded (HIPADAPT_PROVIDER=%s); tried: %s",
                     ha_env(HA_ENV_PROVIDER), search->tried.text);
        return -1;
    }
    ha_guard_take(&publishing);
    if (provider.kind == HA_PROVIDER_NONE) {
        enum ha_provider_kind kind = search->found.kind;
        void **slots = (void **)&ha_calls, **found = (void **)&search->calls;
        search->found.kind = HA_PROVIDER_NONE;
        provider = search->found;
        for (int call = 0; call < HA_CALL_COUNT; call++) {
            HA_PUBLISH(slots[call], found[call]);
        }
        HA_PUBLISH(provider.kind, kind);
    }
    ha_guard_give(&publishing);
    return 0;
}

const struct ha_provider *
ha_provider_get(void)
{
    if (is_there()) {
        return &provider;
    }
    HA_PUBLISH(wanted, true);
    struct ha_provider_search *search = PyMem_Malloc(sizeof *search);
    if (search == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    int result = prepare(search);
    if (result == 0) {
        Py_BEGIN_ALLOW_THREADS
        pthread_mutex_lock(&load_lock);
        loading_here = true;
        load(search);
        loading_here = false;
        pthread_mutex_unlock(&load_lock);
        Py_END_ALLOW_THREADS
        result = publish(search);
    }
    PyMem_Free(search);
    return result == 0 ? &provider : NULL;
}

const struct ha_provider *
ha_provider_loaded(void)
{
    return is_there() ? &provider : NULL;
}

static const char *
text_of_provider(void)
{
    const char *text =
        is_there() && provider.error_text != NULL ? provider.error_text() : NULL;

    return text != NULL ? text : "";
}

const char *
ha_provider_error_text(void)
{
    const char *text = text_of_provider();

    /* The provider says nothing about a call that never reached it, so what it said
     * before that call is old. */
    if (missing.newest &&
        strncmp(text, missing.before, sizeof missing.before - 1) == 0) {
        return ha_error_text();
    }
    missing.newest = false;
    return text;
}

int
ha_provider_need(enum ha_call call)
{
    void **slots = (void **)&ha_calls;

    if (ha_provider_get() == NULL) {
        return -1;
    }
    if (slots[call] != NULL) {
        return 1;
    }
    const struct ha_call_entry *entry = &ha_call_entries[call];
    snprintf(missing.before, sizeof missing.before, "%s", text_of_provider());
    missing.newest = true;
    char version[32] = "";
    if (provider.version > 0) {
        (void)snprintf(version, sizeof version, " (HIP %d.%d)",
                       provider.version / HIP_MAJOR_STEP,
                       provider.version % HIP_MAJOR_STEP / HIP_MINOR_STEP);
    }
    if (entry->least_version > 0 && ha_provider_symbol(ha_call_symbol(call)) != NULL) {
        (void)ha_error_set(HA_ERROR_UNSUPPORTED,
                           "%s: means something else in %s%s; HIP %d.%d has it",
                           ha_call_name(call), provider.path, version,
                           entry->least_version / HIP_MAJOR_STEP,
                           entry->least_version % HIP_MAJOR_STEP / HIP_MINOR_STEP);
    } else {
        (void)ha_error_set(HA_ERROR_UNSUPPORTED, "%s: not in %s%s; HIP %s has it",
                           ha_call_name(call), provider.path, version, entry->since);
    }
    return 0;
}

bool
ha_provider_shared(void)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so"};
    bool shared = false;

    for (size_t n = 0; !shared && n < sizeof names / sizeof names[0]; n++) {
        void *library = dlopen(names[n], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        if (library != NULL) {
            shared = dlsym(library, "hipInit") == dlsym(provider.hip, "hipInit");
            (void)dlclose(library);
        }
    }
    return shared;
}

/* A fork waits until no thread loads: a child with half of a library would crash.  Both
 * are registered twice; the first of them that is called does it. */
static void
before_fork(void)
{
    if (!loading_here && !forking_here) {
        (void)pthread_mutex_lock(&load_lock);
        forking_here = true;
    }
}

static void
after_fork(void)
{
    if (forking_here) {
        forking_here = false;
        (void)pthread_mutex_unlock(&load_lock);
    }
}

int
ha_provider_finish_imports(void)
{
    static const char *const names[] = {"hipadapt._enum", "hipadapt._compiler"};

    for (size_t n = 0; HA_READ(wanted) && n < sizeof names / sizeof names[0]; n++) {
        PyObject *module = PyImport_ImportModule(names[n]);
        if (module == NULL) {
            return -1;
        }
        Py_DECREF(module);
    }
    return 0;
}

int
ha_provider_watch_forks(void)
{
    static bool watched;

    if (!watched && pthread_atfork(before_fork, after_fork, after_fork) != 0) {
        return -1;
    }
    watched = true;
    return 0;
}

void *
ha_provider_symbol(const char *symbol)
{
    void *address = NULL;

    if (!is_there() || (provider.lacks != NULL && provider.lacks(symbol) != 0)) {
        return NULL;
    }
    if (provider.hip != NULL) {
        address = dlsym(provider.hip, symbol);
    }
    if (address == NULL && provider.rtc != NULL) {
        address = dlsym(provider.rtc, symbol);
    }
    return address;
}
