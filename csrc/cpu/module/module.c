/* SPDX-License-Identifier: MIT */
#include "cpu/module/module.h"

#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/compile/image_file.h"
#include "cpu/exec/image_runtime.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/module/fatbin.h"
#include "cpu/module/fill_kernel.h"
#include "cpu/module/image_library.h"
#include "cpu/module/lines.h"
#include "cpu/module/report.h"
#include "cpu/queue/mark.h"
#include "cpu/queue/pool.h"

struct ha_module {
    struct ha_deferred deferred; /* for the last release under the pool lock */
    uint64_t handle;
    struct ha_device *device;      /* borrowed */
    void *library;                 /* owned, of dlopen */
    const struct ha_image *image;  /* borrowed from the library */
    struct ha_function *functions; /* owned, image->kernel_count */
    _Atomic uint32_t references;   /* the handle's, and one a function */
    uint32_t variables_known;      /* how many the memory registry has */
    size_t elf_bytes;
    struct ha_lines *lines; /* owned; NULL: kernels need none */
};

/* ---- life ---- */

static void
module_destroy(struct ha_deferred *deferred)
{
    struct ha_module *module = (struct ha_module *)(void *)deferred;
    for (uint32_t i = 0; i < module->variables_known; i++) {
        ha_memory_remove_foreign(module->image->variables[i].address,
                                 HA_MEMORY_VARIABLE);
    }
    for (uint32_t i = 0; module->functions != NULL && i < module->image->kernel_count;
         i++) {
        free(atomic_load(&module->functions[i].proved));
    }
    if (module->library != NULL) {
        ha_image_library_close(module->library);
    }
    ha_lines_free(module->lines);
    free(module->functions);
    free(module);
}

_Static_assert(offsetof(struct ha_module, deferred) == 0, "cast in module_destroy");

static bool
module_drop(struct ha_module *module)
{
    return atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) == 1;
}

static void
module_release(struct ha_module *module)
{
    if (module_drop(module)) {
        module_destroy(&module->deferred);
    }
}

struct ha_function *
ha_function_acquire(uint64_t handle)
{
    return ha_handle_acquire(HA_HANDLE_FUNCTION, handle);
}

void
ha_function_release(struct ha_function *function)
{
    struct ha_module *module = function->module;
    if (ha_handle_release(function->handle) && module_drop(module)) {
        module->deferred.destroy = module_destroy;
        ha_pool_defer(&module->deferred);
    }
}

void
ha_function_leave(struct ha_function *function)
{
    struct ha_module *module = function->module;
    if (ha_handle_release(function->handle)) {
        module_release(module);
    }
}

/* Takes the functions and the module itself out of use; the handle's reference to the
 * module is the caller's. */
static void
module_retire_functions(struct ha_module *module)
{
    for (uint32_t i = 0; i < module->image->kernel_count; i++) {
        struct ha_function *function = &module->functions[i];
        if (ha_handle_retire(HA_HANDLE_FUNCTION, function->handle) != NULL &&
            ha_handle_release(function->handle)) {
            module_release(module);
        }
    }
}

void
ha_module_look(const struct ha_module *module, struct ha_module_view *view)
{
    Dl_info info;
    bool known = dladdr(module->image, &info) != 0;

    *view = (struct ha_module_view){
        .id = module->handle,
        .device = module->device,
        .load_base = known ? (uint64_t)(uintptr_t)info.dli_fbase : 0,
        .load_size = module->elf_bytes,
        .functions = module->functions,
        .function_count = module->image->kernel_count,
    };
}

const char *
ha_module_facts(const struct ha_module *module)
{
    return dlsym(module->library, HA_IMAGE_FACTS);
}

size_t
ha_module_constant_bytes(const struct ha_module *module)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < module->image->variable_count; i++) {
        const struct ha_image_variable *variable = &module->image->variables[i];
        bytes += variable->constant != 0 ? variable->size : 0;
    }
    return bytes;
}

/* Keeps the module meanwhile. */
static void
visit_module(uint64_t handle, void *visit_pointer)
{
    void (*const *visit)(struct ha_module *module) = visit_pointer;
    struct ha_module *module = ha_handle_acquire(HA_HANDLE_MODULE, handle);

    if (module != NULL) {
        (*visit)(module);
        if (ha_handle_release(handle)) {
            module_release(module);
        }
    }
}

void
ha_modules_each(void (*visit)(struct ha_module *module))
{
    ha_handle_each(HA_HANDLE_MODULE, visit_module, &visit);
}

hipError_t
ha_module_unload(hipModule_t handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct ha_module *module = ha_handle_retire(HA_HANDLE_MODULE, number);
    if (module == NULL) {
        return ha_cpu_fail(hipErrorInvalidResourceHandle,
                           "argument 'module' (%p) is not a loaded module",
                           (void *)handle);
    }
    ha_report_unloading(module);
    module_retire_functions(module);
    if (ha_handle_release(number)) {
        module_release(module);
    }
    return hipSuccess;
}

/* ---- loading ---- */

static hipError_t
image_adopt(struct ha_module *module)
{
    struct ha_image *image = dlsym(module->library, HA_IMAGE_SYMBOL);
    if (image == NULL) {
        return ha_cpu_fail(hipErrorInvalidImage,
                           "the image has no kernels of hipadapt in it");
    }
    if (image->abi != HA_IMAGE_ABI) {
        return ha_cpu_fail(
            hipErrorNoBinaryForGpu,
            "the image has version %u, this library needs %u: compile it again",
            image->abi, HA_IMAGE_ABI);
    }
    if (image->warp_size != ha_config()->warp_size) {
        return ha_cpu_fail(
            hipErrorNoBinaryForGpu,
            "the image was compiled for warps of %u lanes, the device has "
            "%u (HIPADAPT_CPU_WARP_SIZE)",
            image->warp_size, ha_config()->warp_size);
    }
    image->runtime = &ha_exec_runtime;
    module->image = image;
    return hipSuccess;
}

static hipError_t
variables_register(struct ha_module *module)
{
    for (uint32_t i = 0; i < module->image->variable_count; i++) {
        const struct ha_image_variable *variable = &module->image->variables[i];
        if (variable->size != 0) {
            hipError_t code =
                ha_memory_add_foreign(module->device->id, HA_MEMORY_VARIABLE, 0,
                                      variable->address, (size_t)variable->size);
            if (code != hipSuccess) {
                return code;
            }
            if (ha_checked()) {
                ha_checked_variable(variable->address, variable->name,
                                    variable->constant != 0);
            }
        }
        module->variables_known = i + 1;
    }
    return hipSuccess;
}

static void
function_init(struct ha_function *function, struct ha_module *module,
              const struct ha_image_kernel *kernel)
{
    function->module = module;
    function->device = module->device;
    function->kernel = kernel;
    function->packed_align = 1;
    atomic_init(&function->dynamic_bytes, (int)ha_kernel_dynamic_room(kernel));
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct ha_image_arg *arg = &kernel->args[i];
        if ((size_t)arg->offset + arg->size > function->packed_bytes) {
            function->packed_bytes = (size_t)arg->offset + arg->size;
        }
        if (arg->align > function->packed_align) {
            function->packed_align = arg->align;
        }
    }
}

/* Makes the functions, without handles: nobody can find them yet. */
static hipError_t
functions_make(struct ha_module *module)
{
    uint32_t count = module->image->kernel_count;
    module->functions = calloc(count > 0 ? count : 1, sizeof *module->functions);
    if (module->functions == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %u functions", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        function_init(&module->functions[i], module, &module->image->kernels[i]);
    }
    return hipSuccess;
}

static hipError_t
handles_make(struct ha_module *module)
{
    for (uint32_t i = 0; i < module->image->kernel_count; i++) {
        struct ha_function *function = &module->functions[i];
        atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
        function->handle = ha_handle_create(HA_HANDLE_FUNCTION, function);
        if (function->handle == 0) {
            module_drop(module);
            return ha_cpu_fail(hipErrorOutOfMemory, "no handles for more functions");
        }
    }
    module->handle = ha_handle_create(HA_HANDLE_MODULE, module);
    if (module->handle == 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no handle for another module");
    }
    return hipSuccess;
}

/* What the binding of this thread's program knows. */
static _Thread_local struct {
    const void *image; /* borrowed; NULL = nothing is known */
    size_t bytes;
} told;

void
hipadaptImageSize(const void *image, size_t bytes)
{
    told.image = image;
    told.bytes = bytes;
}

hipError_t
ha_module_image_size(const void *image, size_t *size)
{
    bool known = told.image != NULL && told.image == image;
    if (known && told.bytes == 0) {
        return ha_cpu_fail(hipErrorInvalidImage, "the image is empty");
    }
    *size = known ? told.bytes : 0;
    return hipSuccess;
}

/* Line tables, where a kernel needs them. */
static void
read_lines(struct ha_module *module, const void *elf, size_t size)
{
    bool wanted = false;

    for (uint32_t i = 0; i < module->image->kernel_count; i++) {
        wanted |= (module->image->kernels[i].flags & HA_KERNEL_NUMBERS) != 0;
    }
    module->lines = wanted ? ha_lines_read(elf, size) : NULL;
}

struct ha_line_place
ha_module_place(const struct ha_module *module, uintptr_t at)
{
    const struct link_map *map = module->library;

    return module->lines != NULL ? ha_lines_find(module->lines, at - map->l_addr)
                                 : (struct ha_line_place){.name = ""};
}

static hipError_t
load(struct ha_device *device, const void *bytes, size_t size, hipModule_t *handle)
{
    const void *elf;
    size_t elf_size;
    hipError_t code = ha_fatbin_pick(bytes, size, &bytes, &size);
    if (code != hipSuccess) {
        return code;
    }
    enum ha_status status = ha_image_file_check(bytes, size, &elf, &elf_size);
    if (status != HA_OK) {
        return ha_cpu_fail_status(status);
    }
    struct ha_module *module = calloc(1, sizeof *module);
    if (module == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another module");
    }
    module->device = device;
    module->elf_bytes = elf_size;
    atomic_init(&module->references, 1);
    code = ha_image_library_open(elf, elf_size, &module->library);
    if (code == hipSuccess) {
        code = image_adopt(module);
    }
    if (code == hipSuccess) {
        read_lines(module, elf, elf_size);
    }
    if (code == hipSuccess) {
        code = functions_make(module);
    }
    if (code == hipSuccess) {
        code = variables_register(module);
    }
    if (code == hipSuccess) {
        code = handles_make(module);
    }
    if (code == hipSuccess) {
        *handle = (hipModule_t)(uintptr_t)module->handle;
        ha_report_loaded(module);
        return hipSuccess;
    }
    if (module->functions != NULL) {
        module_retire_functions(module);
    }
    module_release(module);
    return code;
}

hipError_t
ha_module_load(struct ha_device *device, const void *bytes, size_t size,
               hipModule_t *handle)
{
    static const char call[] = "module load";
    char subject[32];

    if (!ha_mark_wanted()) {
        return load(device, bytes, size, handle);
    }
    (void)snprintf(subject, sizeof subject, "device %d", device->id);
    bool marked = ha_mark_begin(call, subject);
    hipError_t code = load(device, bytes, size, handle);
    if (marked) {
        ha_mark_end(call, subject, code == hipSuccess ? "loaded" : "failed");
    }
    return code;
}

/* Reads all of the open file, which must not become shorter meanwhile. */
static hipError_t
read_all(int fd, const char *path, unsigned char *bytes, size_t size)
{
    for (size_t used = 0; used < size;) {
        ssize_t got = pread(fd, bytes + used, size - used, (off_t)used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return ha_cpu_fail(hipErrorFileNotFound, "'%s' can't be read: %s", path,
                               got < 0 ? strerror(errno) : "it became shorter");
        }
        used += (size_t)got;
    }
    return hipSuccess;
}

hipError_t
ha_module_read_file(const char *path, void **bytes, size_t *size)
{
    struct stat info;
    void *copy = NULL;
    hipError_t code = hipSuccess;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return ha_cpu_fail(hipErrorFileNotFound, "the file '%s': %s", path,
                           strerror(errno));
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
        code = ha_cpu_fail(hipErrorInvalidImage,
                           "the file '%s' is empty or not a regular file", path);
        goto done;
    }
    copy = malloc((size_t)info.st_size);
    if (copy == NULL) {
        code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for '%s'", path);
        goto done;
    }
    code = read_all(fd, path, copy, (size_t)info.st_size);
    if (code == hipSuccess) {
        *bytes = copy;
        *size = (size_t)info.st_size;
        copy = NULL;
    }
done:
    free(copy);
    close(fd);
    return code;
}

hipError_t
ha_module_load_file(struct ha_device *device, const char *path, hipModule_t *handle)
{
    void *bytes;
    size_t size;
    hipError_t code = ha_module_read_file(path, &bytes, &size);
    if (code == hipSuccess) {
        code = ha_module_load(device, bytes, size, handle);
        free(bytes);
    }
    return code;
}

/* ---- questions ---- */

/* The module with a reference that module_unlock gives back, or NULL. */
static struct ha_module *
module_lock(hipModule_t handle)
{
    return ha_handle_acquire(HA_HANDLE_MODULE, (uint64_t)(uintptr_t)handle);
}

static void
module_unlock(struct ha_module *module)
{
    if (ha_handle_release(module->handle)) {
        module_release(module);
    }
}

static hipError_t
module_unknown(hipModule_t handle)
{
    return ha_cpu_fail(hipErrorInvalidResourceHandle,
                       "argument 'module' (%p) is not a loaded module", (void *)handle);
}

hipError_t
ha_module_function(hipModule_t handle, const char *name, hipFunction_t *function)
{
    struct ha_module *module = module_lock(handle);
    hipError_t code = hipErrorNotFound;
    if (module == NULL) {
        return module_unknown(handle);
    }
    uint32_t count = module->image->kernel_count;
    for (uint32_t i = 0; i < count && code != hipSuccess; i++) {
        if (strcmp(module->functions[i].kernel->name, name) == 0) {
            *function = (hipFunction_t)(uintptr_t)module->functions[i].handle;
            code = hipSuccess;
        }
    }
    if (code != hipSuccess) {
        ha_cpu_fail(code,
                    "argument 'kname': the module has no kernel '%s' (it has %u%s%s)",
                    name, count, count > 0 ? ", the first is " : "",
                    count > 0 ? module->functions[0].kernel->name : "");
    }
    module_unlock(module);
    return code;
}

bool
ha_module_is_loaded(hipModule_t handle)
{
    struct ha_module *module = module_lock(handle);
    if (module != NULL) {
        module_unlock(module);
    }
    return module != NULL;
}

struct ha_function *
ha_module_function_at(hipModule_t handle, uint32_t index)
{
    struct ha_module *module = module_lock(handle);
    struct ha_function *function = NULL;
    if (module == NULL) {
        return NULL;
    }
    if (index < module->image->kernel_count) {
        function = ha_function_acquire(module->functions[index].handle);
    }
    module_unlock(module);
    return function;
}

hipError_t
ha_module_function_count(hipModule_t handle, unsigned *count)
{
    struct ha_module *module = module_lock(handle);
    if (module == NULL) {
        return module_unknown(handle);
    }
    *count = module->image->kernel_count;
    module_unlock(module);
    return hipSuccess;
}

static const struct ha_image_variable *
variable_of(const struct ha_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->image->variable_count; i++) {
        if (strcmp(module->image->variables[i].name, name) == 0) {
            return &module->image->variables[i];
        }
    }
    return NULL;
}

bool
ha_module_find_variable(hipModule_t handle, const char *name, void **address,
                        size_t *size)
{
    struct ha_module *module = module_lock(handle);
    if (module == NULL) {
        return false;
    }
    const struct ha_image_variable *found = variable_of(module, name);
    if (found != NULL) {
        *address = found->address;
        *size = (size_t)found->size;
    }
    module_unlock(module);
    return found != NULL;
}

hipError_t
ha_module_variable(hipModule_t handle, const char *name, void **address, size_t *size)
{
    void *found;
    size_t bytes;
    if (!ha_module_is_loaded(handle)) {
        return module_unknown(handle);
    }
    if (!ha_module_find_variable(handle, name, &found, &bytes)) {
        return ha_cpu_fail(hipErrorNotFound,
                           "argument 'name': the module has no variable '%s'", name);
    }
    if (address != NULL) {
        *address = found;
    }
    if (size != NULL) {
        *size = bytes;
    }
    return hipSuccess;
}

static void
reset_visit(uint64_t handle, void *context)
{
    struct ha_module *module = ha_handle_acquire(HA_HANDLE_MODULE, handle);
    if (module == NULL) {
        return;
    }
    bool ours = module->device == context;
    module_unlock(module);
    if (ours) {
        (void)ha_module_unload((hipModule_t)(uintptr_t)handle);
    }
}

void
ha_modules_reset(struct ha_device *device)
{
    ha_handle_each(HA_HANDLE_MODULE, reset_visit, device);
}

void
ha_module_after_fork_child(void)
{
    ha_image_library_after_fork_child();
    ha_fill_kernel_after_fork_child();
}
