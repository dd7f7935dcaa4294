/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/debug_staging.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/generated/calls.h"
#include "core/env.h"
#include "core/fork.h"
#include "core/thread.h"

/* HIP locks pages. */
#define PAGE_BYTES ((size_t)4096)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Owned; the last one that was used comes first.  This and what follows: lock. */
static struct ha_debug_block *kept;
static size_t kept_bytes;
static size_t used_bytes;
static size_t leaving_bytes; /* of those that a thread unlocks */
static unsigned forks;

/* ---- HIP's part ---- */

/* While a stream is captured HIP refuses such calls to a thread that doesn't say that
 * they have nothing to do with it. */
static void
swap_mode(hipStreamCaptureMode *mode)
{
    if (ha_calls.hipThreadExchangeStreamCaptureMode != NULL) {
        (void)ha_calls.hipThreadExchangeStreamCaptureMode(mode);
    }
}

/* A status of ours is no error of the program's. */
static bool
worked(hipError_t status)
{
    if (status != hipSuccess) {
        (void)ha_calls.hipGetLastError();
    }
    return status == hipSuccess;
}

static bool
is_locked(const struct ha_debug_block *block)
{
    hipPointerAttribute_t found;

    return worked(ha_calls.hipPointerGetAttributes(&found, block->memory)) &&
           found.type == hipMemoryTypeHost;
}

/* A block that can't be locked does all the same: HIP then copies before it returns. */
static void
page_lock(const struct ha_debug_block *block)
{
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;

    if (ha_calls.hipHostRegister == NULL || ha_calls.hipGetLastError == NULL ||
        ha_calls.hipPointerGetAttributes == NULL) {
        return;
    }
    swap_mode(&mode);
    if (!is_locked(block)) {
        (void)worked(ha_calls.hipHostRegister(block->memory, block->size,
                                              hipHostRegisterPortable));
    }
    swap_mode(&mode);
}

/* HIP unlocks memory when the device has nothing to do, so this is a thread's. */
static void *
unlock(void *blocks)
{
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    struct ha_debug_block *next;

    swap_mode(&mode);
    for (struct ha_debug_block *block = blocks; block != NULL; block = next) {
        next = block->next;
        if (ha_calls.hipHostUnregister != NULL) {
            (void)ha_calls.hipHostUnregister(block->memory);
        }
        (void)pthread_mutex_lock(&lock);
        leaving_bytes -= block->size;
        (void)pthread_mutex_unlock(&lock);
        free(block->memory);
        free(block);
    }
    return NULL;
}

/* ---- the pool ---- */

/* Lock held.  One that is kept and not much too large, or NULL. */
static struct ha_debug_block *
find_kept(size_t bytes)
{
    for (struct ha_debug_block **link = &kept; *link != NULL; link = &(*link)->next) {
        struct ha_debug_block *found = *link;
        if (found->size >= bytes && found->size / 2 <= bytes) {
            *link = found->next;
            kept_bytes -= found->size;
            return found;
        }
    }
    return NULL;
}

/* Lock held.  Takes the oldest ones that are kept off the list, so that those that stay
 * have `most` bytes at most. */
static struct ha_debug_block *
trim(size_t most)
{
    struct ha_debug_block **link = &kept, *over = NULL;

    for (size_t bytes = 0; *link != NULL; link = &(*link)->next) {
        bytes += (*link)->size;
        if (bytes > most) {
            over = *link;
            *link = NULL;
            leaving_bytes += kept_bytes - (bytes - over->size);
            kept_bytes = bytes - over->size;
            break;
        }
    }
    return over;
}

/* Without a thread they stay as they are, locked and ours. */
static void
let_go(struct ha_debug_block *blocks)
{
    pthread_t thread;

    if (ha_thread_start(&thread, "hipadapt-unlock", unlock, blocks) == HA_OK) {
        (void)pthread_detach(thread);
    }
}

/* Counts a block of so many bytes and makes room for it: one that was kept, or NULL;
 * `fits` says whether there is room. */
static struct ha_debug_block *
enter(size_t bytes, bool memory, bool *fits)
{
    size_t most = (size_t)ha_env_long(HA_ENV_DEBUG_STREAM_BYTES, 1, LONG_MAX);
    struct ha_debug_block *found = NULL, *over = NULL;

    (void)pthread_mutex_lock(&lock);
    *fits = used_bytes <= most && bytes <= most - used_bytes && leaving_bytes <= most;
    if (*fits) {
        found = memory ? find_kept(bytes) : NULL;
        used_bytes += found != NULL ? found->size : bytes;
        over = trim(used_bytes < most ? most - used_bytes : 0);
    }
    (void)pthread_mutex_unlock(&lock);
    if (over != NULL) {
        let_go(over);
    }
    return found;
}

static struct ha_debug_block *
make(size_t bytes, bool memory)
{
    struct ha_debug_block *block = malloc(sizeof *block);

    if (block == NULL) {
        return NULL;
    }
    *block = (struct ha_debug_block){.size = bytes, .forks = forks};
    if (memory) {
        block->memory = aligned_alloc(PAGE_BYTES, bytes);
        if (block->memory == NULL) {
            free(block);
            return NULL;
        }
    }
    return block;
}

static struct ha_debug_block *
take(size_t bytes, bool memory)
{
    bool fits;
    struct ha_debug_block *block = enter(bytes, memory, &fits);

    if (block != NULL || !fits) {
        return block;
    }
    block = make(bytes, memory);
    if (block == NULL) {
        (void)pthread_mutex_lock(&lock);
        used_bytes -= bytes;
        (void)pthread_mutex_unlock(&lock);
    }
    return block;
}

struct ha_debug_block *
ha_debug_staging_take(size_t bytes)
{
    if (bytes > SIZE_MAX - PAGE_BYTES) {
        return NULL;
    }
    struct ha_debug_block *block =
        take((bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), true);
    if (block != NULL) {
        page_lock(block);
    }
    return block;
}

struct ha_debug_block *
ha_debug_staging_count(size_t bytes)
{
    return take(bytes, false);
}

bool
ha_debug_staging_give(struct ha_debug_block *block)
{
    bool keep = block->memory != NULL;

    (void)pthread_mutex_lock(&lock);
    bool ours = block->forks == forks;
    if (ours) {
        used_bytes -= block->size;
    }
    if (ours && keep) {
        kept_bytes += block->size;
        block->next = kept;
        kept = block;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!ours || !keep) {
        free(block->memory);
        free(block);
    }
    return ours;
}

/* The child has the parent's blocks, which HIP has locked in the parent only. */
static void
after_fork_child(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    kept = NULL;
    kept_bytes = used_bytes = leaving_bytes = 0;
    forks++;
}

int
ha_debug_staging_init(void)
{
    if (ha_fork_register(after_fork_child) != HA_OK) {
        PyErr_SetString(PyExc_RuntimeError, ha_error_text());
        return -1;
    }
    return 0;
}
