/* SPDX-License-Identifier: MIT */
#include "cpu/module/register.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/life.h"
#include "cpu/base/thread.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/module/fatbin.h"
#include "cpu/module/module.h"

#define BUCKETS 1024u /* a power of two */
#define MANAGED_ALIGN 256u
#define NAME_SHOWN_MAX 200 /* bytes of a kernel's name, so that the reason has room */

/* One host address.  Everything but `next` and `functions` is constant. */
struct entry {
    struct entry *next;    /* in its bucket; table lock */
    struct entry *sibling; /* of the same binary */
    struct ha_registered *binary;
    struct ha_register_request request;
    void *managed; /* owned: the memory of a managed variable */
    _Atomic uint64_t functions[HA_DEVICE_MAX]; /* handles; 0 = not looked up */
    atomic_bool logged;                        /* that it cannot run */
};

struct ha_registered {
    struct ha_registered *next; /* table lock */
    const void *binary;         /* borrowed; NULL = not a fat binary */
    struct entry *entries;      /* owned; table lock, constant once `gone` */
    _Atomic uint32_t references;
    bool gone; /* table lock */
    pthread_mutex_t lock;
    hipModule_t modules[HA_DEVICE_MAX]; /* lock; owned by their handles */
    uint32_t managed_epoch;             /* lock: of the runtime that knows the memory */
};

static struct {
    pthread_mutex_t lock; /* a leaf */
    struct ha_registered *binaries;
    struct entry *buckets[BUCKETS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct entry **
bucket_of(const void *host)
{
    uint64_t hash = (uint64_t)(uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15);
    return &table.buckets[hash >> 54 & (BUCKETS - 1)];
}

/* ---- life ---- */

static void
registered_destroy(struct ha_registered *binary)
{
    bool running = ha_life_is_ready();
    for (int i = 0; i < HA_DEVICE_MAX && running; i++) {
        if (ha_module_is_loaded(binary->modules[i])) {
            (void)ha_module_unload(binary->modules[i]);
        }
    }
    for (struct entry *entry = binary->entries; entry != NULL;) {
        struct entry *sibling = entry->sibling;
        if (entry->managed != NULL) {
            (void)ha_memory_remove_foreign(entry->managed, HA_MEMORY_MANAGED);
            free(entry->managed);
        }
        free(entry);
        entry = sibling;
    }
    pthread_mutex_destroy(&binary->lock);
    free(binary);
}

static void
registered_drop(struct ha_registered *binary)
{
    if (atomic_fetch_sub_explicit(&binary->references, 1, memory_order_acq_rel) == 1) {
        registered_destroy(binary);
    }
}

struct ha_registered *
ha_register_binary(const void *wrapper)
{
    struct ha_registered *binary = calloc(1, sizeof *binary);
    if (binary == NULL) {
        return NULL;
    }
    binary->binary = ha_fatbin_unwrap(wrapper, 0);
    if (binary->binary == NULL) {
        ha_log(1, "__hipRegisterFatBinary: %p is not a fat binary of HIP", wrapper);
    }
    atomic_init(&binary->references, 1);
    pthread_mutex_init(&binary->lock, NULL);
    pthread_mutex_lock(&table.lock);
    binary->next = table.binaries;
    table.binaries = binary;
    pthread_mutex_unlock(&table.lock);
    return binary;
}

/* 0 if nothing is registered that the device can run. */
static uint32_t
registered_warp_size(void)
{
    uint32_t size = 0;
    pthread_mutex_lock(&table.lock);
    /* The oldest is the last of the list. */
    for (const struct ha_registered *at = table.binaries; at != NULL; at = at->next) {
        uint32_t its = ha_fatbin_warp_size(at->binary);
        size = its != 0 ? its : size;
    }
    pthread_mutex_unlock(&table.lock);
    return size;
}

uint32_t
ha_warp_size(void)
{
    if (ha_env(HA_ENV_CPU_WARP_SIZE) != NULL) {
        return ha_env_long(HA_ENV_CPU_WARP_SIZE, 32, 64) == 64 ? 64 : 32;
    }
    uint32_t size =
        ha_life_is_ready() ? ha_config()->warp_size : registered_warp_size();
    return size != 0 ? size : 32;
}

/* Whether the binary is registered, by its address alone.  Table lock held. */
static struct ha_registered **
find_binary(const struct ha_registered *binary)
{
    struct ha_registered **link = &table.binaries;
    while (*link != NULL && *link != binary) {
        link = &(*link)->next;
    }
    return *link != NULL ? link : NULL;
}

/* Memory for a managed variable with its first value; the program's pointer gets it. */
static bool
managed_make(struct entry *entry)
{
    const struct ha_register_request *request = &entry->request;
    size_t align = request->align > MANAGED_ALIGN ? request->align : MANAGED_ALIGN;
    if ((align & (align - 1)) != 0 || request->bytes > SIZE_MAX - align) {
        return false;
    }
    size_t room = (request->bytes + align) / align * align;
    entry->managed = aligned_alloc(align, room);
    if (entry->managed == NULL) {
        return false;
    }
    memset(entry->managed, 0, room);
    if (request->value != NULL) {
        memcpy(entry->managed, request->value, request->bytes);
    }
    return true;
}

bool
ha_register_add(struct ha_registered *binary, const struct ha_register_request *request)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        return false;
    }
    entry->binary = binary;
    entry->request = *request;
    if (request->kind == HA_REGISTER_MANAGED && !managed_make(entry)) {
        free(entry);
        return false;
    }
    pthread_mutex_lock(&table.lock);
    bool known = find_binary(binary) != NULL;
    if (known) {
        /* At the end: an instance that several files have is found in the first. */
        struct entry **link = bucket_of(request->host);
        while (*link != NULL) {
            link = &(*link)->next;
        }
        *link = entry;
        entry->sibling = binary->entries;
        binary->entries = entry;
    }
    pthread_mutex_unlock(&table.lock);
    if (known && entry->managed != NULL) {
        void *pointer = entry->managed;
        memcpy((void *)(uintptr_t)request->host, &pointer, sizeof pointer);
    }
    if (!known) {
        free(entry->managed);
        free(entry);
    }
    return known;
}

void
ha_register_remove(struct ha_registered *binary)
{
    pthread_mutex_lock(&table.lock);
    struct ha_registered **link = find_binary(binary);
    if (link != NULL) {
        *link = binary->next;
        binary->gone = true;
        for (struct entry *entry = binary->entries; entry != NULL;
             entry = entry->sibling) {
            struct entry **next = bucket_of(entry->request.host);
            while (*next != entry) {
                next = &(*next)->next;
            }
            *next = entry->next;
        }
    }
    pthread_mutex_unlock(&table.lock);
    if (link != NULL) {
        registered_drop(binary);
    }
}

/* ---- loading ---- */

/* Tells the memory registry of the managed variables, and the device's module where
 * they are.  Lock of the binary held. */
static hipError_t
managed_connect(struct ha_registered *binary, struct ha_device *device,
                hipModule_t module)
{
    bool fresh = binary->managed_epoch != ha_life_epoch();
    pthread_mutex_lock(&table.lock);
    struct entry *entries = binary->entries;
    pthread_mutex_unlock(&table.lock);
    for (struct entry *entry = entries; entry != NULL; entry = entry->sibling) {
        const struct ha_register_request *request = &entry->request;
        void *address;
        size_t bytes;
        if (request->kind != HA_REGISTER_MANAGED) {
            continue;
        }
        if (fresh && request->bytes > 0) {
            hipError_t code =
                ha_memory_add_foreign(device->id, HA_MEMORY_MANAGED, hipMemAttachGlobal,
                                      entry->managed, request->bytes);
            if (code != hipSuccess) {
                return code;
            }
            if (ha_checked()) {
                ha_checked_variable(entry->managed, request->name, false);
            }
        }
        /* A variable that no kernel uses may be missing in the module. */
        if (ha_module_find_variable(module, request->name, &address, &bytes) &&
            bytes == sizeof entry->managed) {
            memcpy(address, &entry->managed, sizeof entry->managed);
        }
    }
    binary->managed_epoch = ha_life_epoch();
    return hipSuccess;
}

static hipError_t
module_load(struct ha_registered *binary, struct ha_device *device, hipModule_t *module)
{
    if (binary->binary == NULL) {
        return ha_cpu_fail(hipErrorInvalidImage,
                           "what the program registered is not a fat binary of HIP");
    }
    hipError_t code = ha_module_load(device, binary->binary, 0, module);
    if (code == hipSuccess) {
        code = managed_connect(binary, device, *module);
        if (code != hipSuccess) {
            (void)ha_module_unload(*module);
        }
    }
    return code;
}

/* The device's module, loaded if need be.  The caller has a reference to the binary. */
static hipError_t
module_of(struct ha_registered *binary, struct ha_device *device, hipModule_t *module)
{
    hipError_t code = hipSuccess;
    pthread_mutex_lock(&binary->lock);
    hipModule_t *loaded = &binary->modules[device->id];
    if (!ha_module_is_loaded(*loaded)) {
        *loaded = NULL;
        code = module_load(binary, device, loaded);
    }
    *module = *loaded;
    pthread_mutex_unlock(&binary->lock);
    return code;
}

/* The first entry for the address, with a reference to its binary for the caller; NULL
 * if there is none.  A function that was looked up before comes as a handle. */
static struct entry *
entry_acquire(const void *host, bool function)
{
    pthread_mutex_lock(&table.lock);
    struct entry *entry = *bucket_of(host);
    while (entry != NULL &&
           (entry->request.host != host ||
            (entry->request.kind == HA_REGISTER_FUNCTION) != function)) {
        entry = entry->next;
    }
    if (entry != NULL) {
        atomic_fetch_add_explicit(&entry->binary->references, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&table.lock);
    return entry;
}

bool
ha_register_cannot_run(const void *address)
{
    struct entry *entry = entry_acquire(address, true);
    if (entry == NULL) {
        return false;
    }
    bool logged = atomic_load(&entry->logged);
    registered_drop(entry->binary);
    return logged;
}

/* Names the kernel in the text of the failure, which is logged once. */
static hipError_t
fail_missing(struct entry *entry, hipError_t code)
{
    const struct ha_thread *thread = ha_thread_self();
    char reason[HA_CALL_TEXT_BYTES];
    size_t named = thread->function != NULL ? strlen(thread->function) : 0;
    const char *text = thread->text;
    /* The function's name comes before the new text again. */
    if (named > 0 && strncmp(text, thread->function, named) == 0) {
        const char *end = strstr(text, ": ");
        text = end != NULL ? end + 2 : text;
    }
    memcpy(reason, text, strlen(text) + 1);
    if (code == hipErrorNotFound) {
        code = hipErrorInvalidDeviceFunction;
    }
    (void)ha_cpu_fail(code, "kernel '%.*s' of the program cannot run: %s",
                      NAME_SHOWN_MAX, entry->request.name, reason);
    if (code != hipErrorDeinitialized && !atomic_exchange(&entry->logged, true)) {
        ha_log(1, "%s", ha_thread_self()->text);
    }
    return code;
}

/* The function of the entry, by way of the device's module. */
static hipError_t
function_find(struct entry *entry, struct ha_device *device,
              struct ha_function **function)
{
    hipModule_t module;
    hipFunction_t handle;
    hipError_t code = module_of(entry->binary, device, &module);
    if (code == hipSuccess) {
        code = ha_module_function(module, entry->request.name, &handle);
    }
    if (code != hipSuccess) {
        return fail_missing(entry, code);
    }
    *function = ha_function_acquire((uint64_t)(uintptr_t)handle);
    if (*function == NULL) {
        return ha_cpu_fail(hipErrorInvalidDeviceFunction,
                           "the device was reset meanwhile");
    }
    atomic_store_explicit(&entry->functions[device->id], (uint64_t)(uintptr_t)handle,
                          memory_order_relaxed);
    return hipSuccess;
}

hipError_t
ha_function_resolve(const void *address, struct ha_device *device, hipError_t unknown,
                    struct ha_function **function)
{
    struct ha_function *found = ha_function_acquire((uint64_t)(uintptr_t)address);
    if (found != NULL) {
        *function = found;
        return hipSuccess;
    }
    struct entry *entry = entry_acquire(address, true);
    if (entry == NULL) {
        return ha_cpu_fail(unknown,
                           "%p is neither a function of a loaded module nor a kernel "
                           "that the program registered",
                           address);
    }
    hipError_t code = hipSuccess;
    uint64_t handle =
        atomic_load_explicit(&entry->functions[device->id], memory_order_relaxed);
    found = handle != 0 ? ha_function_acquire(handle) : NULL;
    if (found != NULL) {
        *function = found;
    } else {
        code = function_find(entry, device, function);
    }
    registered_drop(entry->binary);
    return code;
}

hipError_t
ha_register_variable(const void *host, struct ha_device *device, void **address,
                     size_t *bytes)
{
    hipModule_t module;
    struct entry *entry = entry_acquire(host, false);
    if (entry == NULL) {
        return ha_cpu_fail(hipErrorInvalidSymbol,
                           "argument 'symbol' (%p) is not a variable that the program "
                           "registered",
                           host);
    }
    hipError_t code = module_of(entry->binary, device, &module);
    if (code == hipSuccess && entry->request.kind == HA_REGISTER_MANAGED) {
        *address = entry->managed;
        *bytes = entry->request.bytes;
    } else if (code == hipSuccess &&
               !ha_module_find_variable(module, entry->request.name, address, bytes)) {
        code = ha_cpu_fail(hipErrorInvalidSymbol,
                           "the device code has no variable '%s'", entry->request.name);
    }
    registered_drop(entry->binary);
    return code;
}

void
ha_register_after_fork_child(void)
{
    pthread_mutex_init(&table.lock, NULL);
    for (struct ha_registered *binary = table.binaries; binary != NULL;
         binary = binary->next) {
        pthread_mutex_init(&binary->lock, NULL);
    }
}
