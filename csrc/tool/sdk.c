/* SPDX-License-Identifier: MIT */
#include "tool/sdk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/dl.h"
#include "core/env.h"

#define SDK "librocprofiler-sdk.so.1"
#define REGISTER "librocprofiler-register.so.0"
#define PROBE "rocprofiler_force_configure"
#define OWN_MARK "hipadapt_rocprofiler_finalize"

struct ha_sdk ha_sdk;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of writing it */

/* One of AMD's libraries, from where the dynamic linker looks or from ROCM_PATH. */
static void *
open_theirs(const char *name, int flags, struct ha_dl_tried *tried)
{
    char path[1024];
    void *library = ha_dl_open(name, flags, tried);
    const char *root = ha_env(HA_ENV_ROCM_PATH);

    if (library == NULL && root != NULL) {
        int length = snprintf(path, sizeof path, "%s/lib/%s", root, name);
        if (length > 0 && (size_t)length < sizeof path) {
            library = ha_dl_open(path, flags, tried);
        }
    }
    return library;
}

/* AMD's, where the process can have it; a library that the process has comes first. It
 * hears of the runtime by way of another library, without which it is of no use. */
static void *
find_theirs(struct ha_dl_tried *tried)
{
    void *library = dlopen(SDK, RTLD_LAZY | RTLD_NOLOAD);
    const char *provider = ha_env(HA_ENV_PROVIDER);

    if (library != NULL || (provider != NULL && strcmp(provider, "cpu") == 0) ||
        open_theirs(REGISTER, RTLD_LAZY | RTLD_LOCAL, tried) == NULL) {
        return library;
    }
    return open_theirs(SDK, RTLD_LAZY | RTLD_GLOBAL, tried);
}

/* A symbol that ours alone has, of that very library: NULL for AMD's. */
static void *
own_symbol(const char *path, const char *name)
{
    void *library = path[0] != '\0' ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    return library != NULL ? dlsym(library, name) : NULL;
}

/* Ours, in the folder of this library.  Global, so that the runtime finds it. */
static void *
find_ours(struct ha_dl_tried *tried)
{
    char path[1024];

    return ha_dl_beside(&ha_sdk, SDK, path, sizeof path)
               ? ha_dl_open(path, RTLD_NOW | RTLD_GLOBAL, tried)
               : NULL;
}

/* The name of a function that is missing and can't be, or NULL. */
static const char *
fill(struct ha_sdk *sdk, void *library)
{
    static const char *const names[] = {
#define NAME(name) "rocprofiler_" #name,
        HA_SDK_FUNCTIONS(NAME)
#undef NAME
    };
    void **slots = (void **)sdk;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slots[i] = dlsym(library, names[i]);
    }
#define NEED(name)                                                                     \
    if (sdk->name == NULL) {                                                           \
        return "rocprofiler_" #name;                                                   \
    }
    NEED(force_configure)
    NEED(create_context)
    NEED(start_context)
    NEED(configure_callback_tracing_service)
    NEED(configure_device_counting_service)
    NEED(iterate_callback_tracing_kind_operation_args)
    NEED(query_available_agents)
#undef NEED
    return NULL;
}

/* Any lock of ours would be held while constructors of libraries run. */
static enum ha_status
find(struct ha_sdk *sdk)
{
    struct ha_dl_tried tried = {.used = 0};
    Dl_info info;
    void *library =
        dlsym(RTLD_DEFAULT, PROBE) != NULL ? RTLD_DEFAULT : find_theirs(&tried);

    if (library == NULL && dlsym(RTLD_DEFAULT, PROBE) == NULL) {
        library = find_ours(&tried);
    }
    if (library == NULL && dlsym(RTLD_DEFAULT, PROBE) == NULL) {
        return ha_error_set(HA_ERROR_NOT_FOUND, SDK " could not be loaded; tried: %s",
                            tried.text);
    }
    const char *missing = fill(sdk, library);
    void *symbol = dlsym(library, PROBE);
    if (symbol != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL) {
        (void)snprintf(sdk->path, sizeof sdk->path, "%s", info.dli_fname);
    }
    if (missing != NULL) {
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "%s lacks %s: rocprofiler-sdk 1.x is needed",
                            sdk->path[0] != '\0' ? sdk->path : SDK, missing);
    }
    *(void **)&sdk->finalize = own_symbol(sdk->path, OWN_MARK);
    *(void **)&sdk->copy_stream =
        own_symbol(sdk->path, "hipadapt_rocprofiler_copy_stream");
    *(void **)&sdk->work_status =
        own_symbol(sdk->path, "hipadapt_rocprofiler_work_status");
    *(void **)&sdk->host_functions = own_symbol(sdk->path, HA_HOST_FUNCTIONS_TELL);
    *(void **)&sdk->settle = own_symbol(sdk->path, "hipadapt_rocprofiler_settle");
    *(void **)&sdk->fill_bytes =
        own_symbol(sdk->path, "hipadapt_rocprofiler_fill_bytes");
    *(void **)&sdk->launch_form =
        own_symbol(sdk->path, "hipadapt_rocprofiler_launch_form");
    return HA_OK;
}

enum ha_status
ha_sdk_need(void)
{
    struct ha_sdk sdk = {.there = false};

    if (atomic_load_explicit(&ha_sdk.there, memory_order_acquire)) {
        return HA_OK;
    }
    enum ha_status status = find(&sdk);
    if (status == HA_OK) {
        pthread_mutex_lock(&lock);
        if (!atomic_load(&ha_sdk.there)) { /* else another thread has found the same */
            memcpy(&ha_sdk, &sdk, offsetof(struct ha_sdk, there));
            atomic_store_explicit(&ha_sdk.there, true, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return status;
}

void
ha_sdk_forked(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}
