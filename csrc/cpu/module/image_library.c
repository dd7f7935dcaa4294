/* SPDX-License-Identifier: MIT */
#include "cpu/module/image_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/log.h"
#include "core/unnamed_file.h"
#include "cpu/base/error.h"

#define FD_PATH_BYTES 128
#define LOAD_NUMBER_BITS 32

/* Images leave libm and libmvec undefined: the process has to have them for all. */
static pthread_once_t math_once = PTHREAD_ONCE_INIT;

static void
math_load(void)
{
    if (dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL) == NULL) {
        ha_log(1, "libm.so.6 can't be loaded: kernels that need it will not load");
    }
    if (dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL) == NULL) {
        ha_log(2, "libmvec.so.1 can't be loaded");
    }
}

/* Changes whenever an image is mapped or unmapped.  The dynamic linker gives addresses
 * out again, and its lock orders that; this makes the order known to us, too. */
static _Atomic uint32_t mappings;

static void
mappings_pass(void)
{
    atomic_fetch_add_explicit(&mappings, 1, memory_order_acq_rel);
}

/* A path of the descriptor that no load before had: dlopen gives the library that it
 * has if it knows the name already, and descriptor numbers come again.  The number of
 * the load is written as "./" for 0 and "/" for 1, which means nothing to the kernel.
 */
static void
path_make(int fd, char path[FD_PATH_BYTES])
{
    static _Atomic uint32_t loads;
    uint32_t number = atomic_fetch_add_explicit(&loads, 1, memory_order_relaxed);
    int used = snprintf(path, FD_PATH_BYTES, "/proc/self/fd/");
    for (int bit = 0; bit < LOAD_NUMBER_BITS; bit++) {
        used += snprintf(path + used, FD_PATH_BYTES - (size_t)used, "%s",
                         (number >> bit & 1u) != 0 ? "/" : "./");
    }
    snprintf(path + used, FD_PATH_BYTES - (size_t)used, "%d", fd);
}

hipError_t
ha_image_library_open(const void *elf, size_t size, void **library)
{
    char path[FD_PATH_BYTES], *named;
    int fd = ha_unnamed_file("hipadapt-image", &named);
    if (fd < 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "there is no file for the image: %s",
                           strerror(errno));
    }
    hipError_t code =
        ha_file_write_all(fd, elf, size) == 0
            ? hipSuccess
            : ha_cpu_fail(hipErrorOutOfMemory, "the image can't be copied: %s",
                          strerror(errno));
    if (code == hipSuccess) {
        pthread_once(&math_once, math_load);
        path_make(fd, path);
        *library = dlopen(named != NULL ? named : path, RTLD_NOW | RTLD_LOCAL);
        mappings_pass();
        if (*library == NULL) {
            code = ha_cpu_fail(hipErrorSharedObjectInitFailed,
                               "the image can't be loaded: %s", dlerror());
        }
    }
    close(fd);
    ha_unnamed_file_forget(named);
    return code;
}

void
ha_image_library_close(void *library)
{
    mappings_pass();
    dlclose(library);
}

void
ha_image_library_after_fork_child(void)
{
    static const pthread_once_t fresh = PTHREAD_ONCE_INIT;
    math_once = fresh;
}
