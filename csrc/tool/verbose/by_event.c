/* SPDX-License-Identifier: MIT */
#include "tool/verbose/by_event.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "core/loaded.h"
#include "tool/verbose/result.h"

#define CALLS(X)                                                                       \
    X(hipEventCreateWithFlags)                                                         \
    X(hipEventDestroy)                                                                 \
    X(hipEventElapsedTime)                                                             \
    X(hipEventQuery)                                                                   \
    X(hipEventRecord)                                                                  \
    X(hipStreamIsCapturing)

/* Written once. */
static struct {
#define MEMBER(name) __typeof__(name) *name;
    CALLS(MEMBER)
#undef MEMBER
} hip;
static atomic_bool there;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of writing it */

/* False: something is missing. */
static bool
fill(void *library)
{
    static const char *const names[] = {
#define NAME(name) #name,
        CALLS(NAME)
#undef NAME
    };
    void **slots = (void **)&hip;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slots[i] = dlsym(library, names[i]);
        if (slots[i] == NULL) {
            return false;
        }
    }
    return true;
}

static int
look(void *library, const char *path, void *found)
{
    (void)path;
    *(bool *)found = fill(library);
    return !*(bool *)found;
}

enum ha_status
ha_by_event_need(void)
{
    bool found = atomic_load(&there);

    if (found) {
        return HA_OK;
    }
    pthread_mutex_lock(&lock);
    found = atomic_load(&there) || fill(RTLD_DEFAULT);
    if (!found) {
        ha_loaded_each(look, &found);
    }
    atomic_store(&there, found);
    pthread_mutex_unlock(&lock);
    return found ? HA_OK
                 : ha_error_set(HA_ERROR_UNSUPPORTED,
                                "this process has not loaded a HIP runtime");
}

/* Else the device has failed earlier, which it says at every call. */
static bool
is_no_handle(hipError_t code)
{
    return code == hipErrorInvalidHandle || code == hipErrorInvalidValue ||
           code == hipErrorContextIsDestroyed;
}

static enum ha_status
failed(const char *what, hipError_t code)
{
    const char *name = ha_result_name((int32_t)code);

    return ha_error_set(HA_ERROR_INVALID, "%s: %s", what, name != NULL ? name : "?");
}

enum ha_status
ha_by_event_check(hipStream_t stream, hipEvent_t event)
{
    hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
    hipError_t code = hip.hipStreamIsCapturing(stream, &capturing);

    if (is_no_handle(code)) {
        return failed("argument 'stream' is no stream", code);
    }
    if (capturing != hipStreamCaptureStatusNone) {
        return ha_error_set(HA_ERROR_INVALID, "argument 'stream' is being captured");
    }
    code = event != NULL ? hip.hipEventQuery(event) : hipSuccess;
    return is_no_handle(code) ? failed("argument 'event' is no event", code) : HA_OK;
}

bool
ha_by_event_record(hipStream_t stream, hipEvent_t *event)
{
    if (hip.hipEventCreateWithFlags(event, hipEventDefault) != hipSuccess) {
        *event = NULL;
        return false;
    }
    if (hip.hipEventRecord(*event, stream) != hipSuccess) {
        (void)hip.hipEventDestroy(*event);
        *event = NULL;
        return false;
    }
    return true;
}

hipError_t
ha_by_event_query(hipEvent_t event)
{
    return hip.hipEventQuery(event);
}

bool
ha_by_event_elapsed(hipEvent_t from, hipEvent_t to, uint64_t *ns)
{
    float ms = 0;

    if (hip.hipEventElapsedTime(&ms, from, to) != hipSuccess || ms < 0) {
        return false;
    }
    *ns = (uint64_t)((double)ms * 1e6);
    return true;
}

void
ha_by_event_free(hipEvent_t event)
{
    if (event != NULL) {
        (void)hip.hipEventDestroy(event);
    }
}
