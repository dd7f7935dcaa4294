/* SPDX-License-Identifier: MIT */
/* A HIP library that does as it is told, to see what the bindings do with odd answers.
 *
 * fake_fail(code) makes the next call (of those that ask) answer that code and write
 * rubbish into its outputs.  Asynchronous work is never done before fake_finish():
 * copies happen then, host functions run then on a thread of their own, and events are
 * ready from then on.  Many functions of HIP are missing on purpose.  One thread at a
 * time, but for fake_sleep. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/hip.h"
#include "abi/hiprtc.h"

#define RUBBISH 0x5a
#define WORK_MAX 256

struct work {
    void *to;
    const void *from;
    size_t bytes;
    hipHostFn_t function;
    void *context;
};

struct program {
    const char *source; /* not copied: the caller keeps it */
    const char *option;
};

static int next_error;
static int sleep_ms;
static int capturing;
static struct work works[WORK_MAX];
static int work_count;
static unsigned long finished, recorded; /* work counted since the start */
static unsigned char last_arguments[1024];
static size_t last_size;

static int
failing(void *output, size_t size)
{
    int code = next_error;

    next_error = 0;
    if (code != 0 && output != NULL) {
        memset(output, RUBBISH, size);
    }
    return code;
}

static hipError_t
enqueue(struct work work)
{
    int code = failing(NULL, 0);

    if (code == 0 && work_count < WORK_MAX) {
        works[work_count++] = work;
        recorded++;
    }
    return (hipError_t)code;
}

static void *
run_host(void *context)
{
    struct work *work = context;

    work->function(work->context);
    return NULL;
}

void fake_fail(int code);
void fake_sleep(int milliseconds);
void fake_capture(int on);
void fake_finish(void);
size_t fake_arguments(void *to);
const char *fake_source(void *program);
const char *fake_option(void *program);

void
fake_fail(int code)
{
    next_error = code;
}

void
fake_sleep(int milliseconds)
{
    sleep_ms = milliseconds;
}

void
fake_capture(int on)
{
    capturing = on;
}

/* Without the GIL (ctypes.CDLL), for host functions may need it. */
void
fake_finish(void)
{
    for (int i = 0; i < work_count; i++) {
        pthread_t thread;
        if (works[i].to != NULL) {
            memcpy(works[i].to, works[i].from, works[i].bytes);
        } else if (works[i].function != NULL &&
                   pthread_create(&thread, NULL, run_host, &works[i]) == 0) {
            pthread_join(thread, NULL);
        }
    }
    work_count = capturing ? work_count : 0; /* a graph is launched again */
    finished = recorded;
}

size_t
fake_arguments(void *to)
{
    memcpy(to, last_arguments, last_size);
    return last_size;
}

const char *
fake_source(void *program)
{
    return ((struct program *)program)->source;
}

const char *
fake_option(void *program)
{
    return ((struct program *)program)->option;
}

hipError_t
hipInit(unsigned int flags)
{
    (void)flags;
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipRuntimeGetVersion(int *version)
{
    *version = 71000042;
    return hipSuccess;
}

hipError_t
hipGetDeviceCount(int *count)
{
    *count = 1;
    return (hipError_t)failing(count, sizeof *count);
}

hipError_t
hipGetDevice(int *device)
{
    *device = 0;
    return (hipError_t)failing(device, sizeof *device);
}

hipError_t
hipGetLastError(void)
{
    return hipSuccess;
}

hipError_t
hipDeviceSynchronize(void)
{
    struct timespec time = {sleep_ms / 1000, sleep_ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipGetDevicePropertiesR0600(hipDeviceProp_t *properties, int device)
{
    (void)device;
    strcpy(properties->name, "Fake");
    properties->warpSize = 32;
    return (hipError_t)failing(properties, sizeof *properties);
}

hipError_t
hipDeviceGetName(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "Fake device", (size_t)size);
    return (hipError_t)failing(name, (size_t)size);
}

hipError_t
hipMalloc(void **address, size_t size)
{
    *address = size > 0 ? malloc(size) : NULL;
    return (hipError_t)failing(address, sizeof *address);
}

hipError_t
hipFree(void *address)
{
    free(address);
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipMemGetInfo(size_t *unused, size_t *total)
{
    *unused = 1;
    *total = 2;
    return (hipError_t)failing(total, sizeof *total);
}

hipError_t
hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
               hipStream_t stream)
{
    (void)kind;
    (void)stream;
    return enqueue((struct work){.to = to, .from = from, .bytes = bytes});
}

hipError_t
hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *context)
{
    (void)stream;
    return enqueue((struct work){.function = function, .context = context});
}

hipError_t
hipStreamCreate(hipStream_t *stream)
{
    *stream = (hipStream_t)0x1000;
    return (hipError_t)failing(stream, sizeof *stream);
}

hipError_t
hipStreamDestroy(hipStream_t stream)
{
    (void)stream;
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipStreamQuery(hipStream_t stream)
{
    (void)stream;
    return finished == recorded ? hipSuccess : hipErrorNotReady;
}

/* An event is the number of the work before it. */
hipError_t
hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
    (void)flags;
    *event = malloc(sizeof(unsigned long));
    return *event != NULL ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t
hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    (void)stream;
    *(unsigned long *)(void *)event = recorded;
    return hipSuccess;
}

hipError_t
hipEventQuery(hipEvent_t event)
{
    return *(unsigned long *)(void *)event <= finished ? hipSuccess : hipErrorNotReady;
}

hipError_t
hipEventDestroy(hipEvent_t event)
{
    free(event);
    return hipSuccess;
}

const char *
hipGetErrorString(hipError_t code)
{
    return code == hipSuccess ? "no error" : NULL;
}

hipError_t
hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
    (void)stream;
    *status = capturing ? hipStreamCaptureStatusActive : (hipStreamCaptureStatus)77;
    return hipSuccess;
}

hipError_t
hipGraphCreate(hipGraph_t *graph, unsigned int flags)
{
    (void)flags;
    *graph = (hipGraph_t)0x2000;
    return (hipError_t)failing(graph, sizeof *graph);
}

/* Its one launch is fake_finish while fake_capture is on. */
hipError_t
hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph,
                    const hipGraphNode_t *dependencies, size_t count,
                    const hipHostNodeParams *params)
{
    (void)graph;
    (void)dependencies;
    (void)count;
    *node = (hipGraphNode_t)0x3000;
    return enqueue((struct work){.function = params->fn, .context = params->userData});
}

hipError_t
hipGraphDestroy(hipGraph_t graph)
{
    (void)graph;
    return (hipError_t)failing(NULL, 0);
}

hipError_t
hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                      unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                      unsigned int block_z, unsigned int shared, hipStream_t stream,
                      void **params, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)params;
    (void)block_x, (void)block_y, (void)block_z, (void)shared, (void)stream;
    if (extra != NULL) {
        last_size = *(size_t *)extra[3];
        memcpy(last_arguments, extra[1], last_size);
    }
    return enqueue((struct work){.to = NULL});
}

hiprtcResult
hiprtcVersion(int *major, int *minor)
{
    *major = 9;
    *minor = 0;
    return HIPRTC_SUCCESS;
}

hiprtcResult
hiprtcCreateProgram(hiprtcProgram *made, const char *source, const char *name,
                    int count, const char *const *headers, const char *const *names)
{
    struct program *program = calloc(1, sizeof *program);

    (void)name, (void)count, (void)headers, (void)names;
    program->source = source;
    *made = (hiprtcProgram)(void *)program;
    return HIPRTC_SUCCESS;
}

hiprtcResult
hiprtcCompileProgram(hiprtcProgram handle, int count, const char *const *options)
{
    struct program *program = (void *)handle;

    program->option = count > 0 ? options[0] : NULL;
    return (hiprtcResult)failing(NULL, 0);
}

hiprtcResult
hiprtcGetCodeSize(hiprtcProgram program, size_t *size)
{
    (void)program;
    *size = 16;
    return HIPRTC_SUCCESS;
}

hiprtcResult
hiprtcGetCode(hiprtcProgram program, char *code)
{
    (void)program;
    memcpy(code, "0123456789abcdef", 16);
    return HIPRTC_SUCCESS;
}

hiprtcResult
hiprtcDestroyProgram(hiprtcProgram *program)
{
    free(*program);
    *program = NULL;
    return HIPRTC_SUCCESS;
}
