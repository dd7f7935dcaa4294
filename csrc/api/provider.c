/* SPDX-License-Identifier: MIT */
#include "api/provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/dl.h"
#include "core/env.h"
#include "core/status.h"

#define PROBE_LIMIT_MS 20000
#define PROBE_STEP_MS 5
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL)

extern char **environ;

static const char *const hip_names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "libamdhip64.so", NULL};
static const char *const rtc_names[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                        "libhiprtc.so.5", "libhiprtc.so", NULL};

/* Loads in a child of its own: a broken driver ends the child, not the program. */
static const char probe_program[] =
    "import ctypes,sys\n"
    "n=ctypes.c_int()\n"
    "r=ctypes.CDLL(sys.argv[1]).hipGetDeviceCount(ctypes.byref(n))\n"
    "sys.exit(0 if r==0 and n.value>0 else 3)\n";

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ha_provider provider; /* complete and constant once kind is set */

/* What loading needs from Python, gathered before the GIL is released. */
struct search {
    char interpreter[1024]; /* "" where Python doesn't know its own path */
    char compiler[1024];    /* the zig program, or "" */
    struct ha_provider found;
    struct ha_dl_tried tried;
    struct ha_call_table calls;
    bool failed;
};

static void
note_tried(struct search *search, const char *what, const char *why)
{
    struct ha_dl_tried *tried = &search->tried;
    size_t room = sizeof tried->text - tried->used;
    int written = snprintf(tried->text + tried->used, room, "%s%s (%s)",
                           tried->used > 0 ? "; " : "", what, why);

    if (written > 0) {
        tried->used += (size_t)written < room ? (size_t)written : room - 1;
    }
}

static void
copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
}

/* The file that holds the address, for messages and for finding siblings. */
static void
path_of(void *library, const char *symbol, const char *fallback, char *path, size_t size)
{
    Dl_info info;
    void *address = dlsym(library, symbol);

    if (address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        fallback = info.dli_fname;
    }
    copy_text(path, size, fallback);
}

static int
find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = info->dlpi_name;
    const char *base = name != NULL ? strrchr(name, '/') : NULL;

    (void)size;
    if (base != NULL && strncmp(base + 1, "libamdhip64", 11) == 0) {
        copy_text(context, 1024, name);
        return 1;
    }
    return 0;
}

/* Copies of libamdhip64 go under many names (wheels add a hash), so the process's own list
 * is read instead of asking for each soname. */
static void *
open_loaded(struct search *search)
{
    char path[1024] = "";

    if (dl_iterate_phdr(find_loaded, path) == 0) {
        return NULL;
    }
    void *library = dlopen(path, LOAD_FLAGS | RTLD_NOLOAD);
    if (library != NULL) {
        copy_text(search->found.why, sizeof search->found.why,
                  "libamdhip64 was already loaded by this process");
    }
    return library;
}

/* libamdhip64 by folder of ROCm and by soname; `path` gets what worked. */
static void *
open_installed(struct search *search)
{
    const char *roots[] = {ha_env(HA_ENV_ROCM_PATH), ha_env(HA_ENV_ROCM_HOME),
                           "/opt/rocm"};
    char path[1024];

    for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r++) {
        for (size_t n = 0; roots[r] != NULL && hip_names[n] != NULL; n++) {
            snprintf(path, sizeof path, "%s/lib/%s", roots[r], hip_names[n]);
            if (access(path, R_OK) != 0) {
                continue;
            }
            void *library = ha_dl_open(path, LOAD_FLAGS, &search->tried);
            if (library != NULL) {
                return library;
            }
        }
        if (roots[r] != NULL) {
            snprintf(path, sizeof path, "%s/lib/libamdhip64.so*", roots[r]);
            note_tried(search, path, "not found");
        }
    }
    for (size_t n = 0; hip_names[n] != NULL; n++) {
        void *library = ha_dl_open(hip_names[n], LOAD_FLAGS, &search->tried);
        if (library != NULL) {
            return library;
        }
    }
    return NULL;
}

/* Whether an installed libamdhip64 reports a device, asked of a child process. */
static bool
probe(const struct search *search, const char *path)
{
    char *const argv[] = {(char *)search->interpreter, "-I", "-S", "-c",
                          (char *)probe_program, (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    int status = -1;
    bool spawned = false;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    if (posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0) {
        spawned = posix_spawn(&child, argv[0], &actions, NULL, argv, environ) == 0;
    }
    posix_spawn_file_actions_destroy(&actions);
    if (!spawned) {
        return false;
    }
    for (int waited = 0;; waited += PROBE_STEP_MS) {
        pid_t ended = waitpid(child, &status, waited < PROBE_LIMIT_MS ? WNOHANG : 0);
        if (ended == child) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (ended < 0 && errno != EINTR) {
            return false; /* the program reaps all children itself */
        }
        if (waited + PROBE_STEP_MS >= PROBE_LIMIT_MS) {
            (void)kill(child, SIGKILL);
        }
        (void)poll(NULL, 0, PROBE_STEP_MS);
    }
}

/* The first installed libamdhip64 that exists, without loading it into this process. */
static bool
locate_installed(char *path, size_t size)
{
    const char *roots[] = {ha_env(HA_ENV_ROCM_PATH), ha_env(HA_ENV_ROCM_HOME),
                           "/opt/rocm"};

    for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r++) {
        for (size_t n = 0; roots[r] != NULL && hip_names[n] != NULL; n++) {
            snprintf(path, size, "%s/lib/%s", roots[r], hip_names[n]);
            if (access(path, R_OK) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void *
open_with_device(struct search *search)
{
    char path[1024];

    /* Without a driver there is no device, and loading the library would cost time and
     * tens of megabytes for nothing. */
    if (access("/dev/kfd", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) {
        note_tried(search, "libamdhip64", "no AMD driver: neither /dev/kfd nor /dev/dxg");
        return NULL;
    }
    if (search->interpreter[0] == '\0') {
        note_tried(search, "libamdhip64", "no interpreter to probe it with");
        return NULL;
    }
    bool found = locate_installed(path, sizeof path) && probe(search, path);
    for (size_t n = 0; !found && hip_names[n] != NULL; n++) {
        copy_text(path, sizeof path, hip_names[n]);
        found = probe(search, path);
    }
    if (!found) {
        note_tried(search, "libamdhip64", "none reports a device");
        return NULL;
    }
    void *library = ha_dl_open(path, LOAD_FLAGS, &search->tried);
    if (library != NULL) {
        copy_text(search->found.why, sizeof search->found.why,
                  "libamdhip64 is installed and reports a device");
    }
    return library;
}

static void *
open_cpu(struct search *search)
{
    Dl_info info;
    char path[1024] = "";

    if (dladdr(&provider, &info) != 0 && info.dli_fname != NULL) {
        const char *end = strrchr(info.dli_fname, '/');
        int folder = end != NULL ? (int)(end - info.dli_fname) : 0;
        snprintf(path, sizeof path, "%.*s/_lib/libhipadapt_cpu.so", folder,
                 info.dli_fname);
    }
    return ha_dl_open(path, LOAD_FLAGS, &search->tried);
}

/* hiprtc is a library beside libamdhip64, or part of it, or anywhere. */
static void *
open_rtc(struct search *search)
{
    struct ha_provider *found = &search->found;
    const char *end = strrchr(found->path, '/');
    char path[2048];

    if (dlsym(found->hip, "hiprtcVersion") != NULL) {
        return found->hip;
    }
    for (size_t n = 0; end != NULL && rtc_names[n] != NULL; n++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(end - found->path), found->path,
                 rtc_names[n]);
        void *library = dlopen(path, LOAD_FLAGS);
        if (library != NULL) {
            return library;
        }
    }
    for (size_t n = 0; rtc_names[n] != NULL; n++) {
        void *library = ha_dl_open(rtc_names[n], LOAD_FLAGS, &search->tried);
        if (library != NULL) {
            return library;
        }
    }
    return NULL;
}

static void *
open_chosen(struct search *search)
{
    struct ha_provider *found = &search->found;
    const char *wish = ha_env(HA_ENV_PROVIDER);
    void *library = NULL;

    if (strcmp(wish, "cpu") == 0) {
        found->kind = HA_PROVIDER_CPU;
        copy_text(found->why, sizeof found->why, "HIPADAPT_PROVIDER=cpu");
        return open_cpu(search);
    }
    if (strcmp(wish, "amd") == 0) {
        found->kind = HA_PROVIDER_AMD;
        library = open_loaded(search);
        if (library == NULL) {
            copy_text(found->why, sizeof found->why, "HIPADAPT_PROVIDER=amd");
            library = open_installed(search);
        }
        return library;
    }
    if (strcmp(wish, "auto") != 0) {
        found->kind = HA_PROVIDER_PATH;
        copy_text(found->why, sizeof found->why, "HIPADAPT_PROVIDER names this library");
        return ha_dl_open(wish, LOAD_FLAGS, &search->tried);
    }
    found->kind = HA_PROVIDER_AMD;
    library = open_loaded(search);
    if (library == NULL) {
        library = open_with_device(search);
    }
    if (library == NULL) {
        found->kind = HA_PROVIDER_CPU;
        copy_text(found->why, sizeof found->why,
                  "no AMD device was found, so the CPU device runs the kernels");
        library = open_cpu(search);
    }
    return library;
}

/* Starts the runtime, so that getters which keep the GIL never wait for that. */
static void
start(struct search *search)
{
    struct ha_provider *found = &search->found;
    int count = 0;

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
fill_calls(struct search *search)
{
    void **slots = (void **)&search->calls;

    for (int call = 0; call < HA_CALL_COUNT; call++) {
        const struct ha_call_entry *entry = &ha_call_entries[call];
        void *library = entry->rtc ? search->found.rtc : search->found.hip;
        slots[call] = library != NULL ? dlsym(library, entry->symbol) : NULL;
    }
}

/* Entry points whose records or codes had another meaning before this version. */
static void
drop_older(struct search *search)
{
    void **slots = (void **)&search->calls;

    for (int call = 0; call < HA_CALL_COUNT; call++) {
        if (search->found.version < ha_call_entries[call].least_version) {
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
        /* A pending exception stays in this thread's state and is raised by the call that
         * waits, once it is back. */
        stop = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
        PyGILState_Release(gil);
    }
    return stop;
}

/* What only the CPU device understands. */
static void
introduce(struct search *search)
{
    struct ha_provider *found = &search->found;
    void (*set_compiler)(const char *) = NULL;
    void (*set_check)(int (*)(void)) = NULL;

    *(void **)&found->error_text = dlsym(found->hip, "hipadaptGetErrorText");
    *(void **)&found->shutdown = dlsym(found->hip, "hipadaptShutdown");
    *(void **)&set_compiler = dlsym(found->hip, "hipadaptSetCompiler");
    *(void **)&set_check = dlsym(found->hip, "hipadaptSetInterruptCheck");
    if (set_compiler != NULL && search->compiler[0] != '\0' &&
        ha_env(HA_ENV_COMPILER) == NULL) {
        set_compiler(search->compiler);
    }
    if (set_check != NULL) {
        set_check(interrupt_check);
    }
}

/* Runs without the GIL, under the load lock. */
static void
load(struct search *search)
{
    struct ha_provider *found = &search->found;

    found->hip = open_chosen(search);
    if (found->hip == NULL) {
        search->failed = true;
        return;
    }
    path_of(found->hip, "hipInit", ha_env(HA_ENV_PROVIDER), found->path,
            sizeof found->path);
    copy_text(found->tried, sizeof found->tried, search->tried.text);
    found->rtc = open_rtc(search);
    fill_calls(search);
    introduce(search);
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
prepare(struct search *search)
{
    memset(search, 0, sizeof *search);
    PyObject *interpreter = PySys_GetObject("executable"); /* borrowed */
    if (path_from(interpreter, search->interpreter, sizeof search->interpreter) < 0) {
        return -1;
    }
    if (ha_env(HA_ENV_COMPILER) != NULL) {
        return 0;
    }
    return find_compiler(search->compiler, sizeof search->compiler);
}

/* `search` is finished; its result becomes the process's provider unless another thread was
 * first. */
static int
publish(struct search *search)
{
    if (provider.kind != HA_PROVIDER_NONE) {
        return 0;
    }
    if (search->failed) {
        PyErr_Format(PyExc_RuntimeError,
                     "no HIP runtime could be loaded (HIPADAPT_PROVIDER=%s); tried: %s",
                     ha_env(HA_ENV_PROVIDER), search->tried.text);
        return -1;
    }
    ha_calls = search->calls;
    provider = search->found;
    return 0;
}

const struct ha_provider *
ha_provider_get(void)
{
    if (provider.kind != HA_PROVIDER_NONE) {
        return &provider;
    }
    struct search *search = PyMem_Malloc(sizeof *search);
    if (search == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    int result = prepare(search);
    if (result == 0) {
        Py_BEGIN_ALLOW_THREADS
        pthread_mutex_lock(&load_lock);
        load(search);
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
    return provider.kind != HA_PROVIDER_NONE ? &provider : NULL;
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
    (void)ha_error_set(HA_ERROR_UNSUPPORTED, "%s: not in %s; HIP %s has it", entry->name,
                       provider.path, entry->since);
    return 0;
}

void *
ha_provider_symbol(const char *symbol)
{
    void *address = NULL;

    if (provider.hip != NULL) {
        address = dlsym(provider.hip, symbol);
    }
    if (address == NULL && provider.rtc != NULL) {
        address = dlsym(provider.rtc, symbol);
    }
    return address;
}
