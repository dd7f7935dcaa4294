/* SPDX-License-Identifier: MIT */
/* A client of the debug stream: it reads what a kernel sends, while the kernel runs.
 *
 *     hipadapt-cc client.c -lhipadapt_tool -o client
 *     ./client
 *
 * With another compiler, where `dir` is the folder of the package hipadapt:
 *
 *     cc client.c -I$dir/include -L$dir/_lib -lhipadapt_tool -lhipadapt_cpu \
 *        -Wl,-rpath,$dir/_lib -o client
 *
 * The kernel halves a vector again and again, and sends it each time.  One of its
 * numbers becomes NaN on the way; the client says when. */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hipadapt/debug_stream.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { COUNT = 8, STEPS = 5, BAD_STEP = 3, LIMIT_MS = 20000 };

static const char source[] =
    "#include <hipadapt/debug_tensor.h>\n"
    "extern \"C\" __global__ void halve(float *x, int steps, int bad) {\n"
    "    for (int step = 0; step < steps; step++) {\n"
    "        x[threadIdx.x] *= 0.5f;\n"
    "        if (step == bad && threadIdx.x == 2) x[2] = x[2] * 0.0f / 0.0f;\n"
    "        __syncthreads();\n"
    "        ha_debug_tensor_block(\"x\", 1, x, blockDim.x);\n"
    "        __syncthreads();\n"
    "    }\n"
    "}\n";

static void
check(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", what, status);
        exit(1);
    }
}

/* ---- the program that is observed ---- */

static hipFunction_t
compile(void)
{
    hiprtcProgram program;
    hipModule_t module;
    hipFunction_t function;
    size_t size;

    check(hiprtcCreateProgram(&program, source, "halve.hip", 0, NULL, NULL), "create");
    if (hiprtcCompileProgram(program, 0, NULL) != HIPRTC_SUCCESS) {
        check(hiprtcGetProgramLogSize(program, &size), "log size");
        char *log = malloc(size);
        check(hiprtcGetProgramLog(program, log), "log");
        fprintf(stderr, "%s\n", log);
        exit(1);
    }
    check(hiprtcGetCodeSize(program, &size), "code size");
    char *code = malloc(size);
    check(hiprtcGetCode(program, code), "code");
    check(hipModuleLoadData(&module, code), "hipModuleLoadData");
    check(hipModuleGetFunction(&function, module, "halve"), "hipModuleGetFunction");
    check(hiprtcDestroyProgram(&program), "destroy");
    free(code);
    return function;
}

/* Returns while the kernel runs. */
static void
launch(hipFunction_t function, hipStream_t stream)
{
    static float host[COUNT];
    void *memory;
    int steps = STEPS, bad = BAD_STEP;
    void *arguments[] = {&memory, &steps, &bad};

    for (int i = 0; i < COUNT; i++) {
        host[i] = (float)(32 * i);
    }
    check(hipMalloc(&memory, sizeof host), "hipMalloc");
    check(hipMemcpy(memory, host, sizeof host, hipMemcpyHostToDevice), "hipMemcpy");
    check(hipModuleLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, stream, arguments,
                                NULL),
          "hipModuleLaunchKernel");
}

/* ---- the client ---- */

/* Prints a tensor of floats and returns how many of its numbers are NaN. */
static int
print_tensor(const hipadapt_debug_stream_payload_debug_tensor_read_t *tensor)
{
    const float *values = (const float *)tensor->tensor_data;
    int nans = 0;

    printf("%s: device %u, %s", tensor->prefix, tensor->device, tensor->tensor_dtype);
    for (int i = 0; i < 8 && tensor->tensor_shape[i] > 0; i++) {
        printf("%s%llu", i == 0 ? " " : "x",
               (unsigned long long)tensor->tensor_shape[i]);
    }
    printf(":");
    for (size_t i = 0; i < tensor->tensor_data_size / sizeof *values; i++) {
        printf(" %g", values[i]);
        nans += isnan(values[i]) != 0;
    }
    printf("\n");
    return nans;
}

/* Reads one event; how many NaNs it has. */
static int
consume(int stream_fd)
{
    hipadapt_debug_stream_event_header_t header;
    void *payload;
    int nans = 0;

    check(hipadapt_debug_stream_read_one_event(stream_fd, &header, &payload), "read");
    if (header.type == HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ) {
        nans = print_tensor(payload);
    }
    free(payload);
    return nans;
}

int
main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int stream_fd, bad_step = -1;
    hipStream_t stream;

    check(hipInit(0), "hipInit");
    hipFunction_t function = compile();
    check(hipadapt_debug_stream_connect(0, &stream_fd), "connect");
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    check(epoll_ctl(poll_fd, EPOLL_CTL_ADD, stream_fd, &event), "epoll_ctl");

    check(hipStreamCreate(&stream), "hipStreamCreate");
    launch(function, stream);
    for (int step = 0; step < STEPS; step++) {
        if (epoll_wait(poll_fd, &event, 1, LIMIT_MS) != 1) {
            fprintf(stderr, "no event came\n");
            return 1;
        }
        if (consume(stream_fd) > 0 && bad_step < 0) { /* one event a wake-up */
            bad_step = step;
        }
    }
    check(hipStreamSynchronize(stream), "hipStreamSynchronize");
    hipadapt_debug_stream_close(stream_fd);
    printf("the first NaN is in step %d: %s\n", bad_step,
           bad_step == BAD_STEP ? "ok" : "wrong");
    return bad_step != BAD_STEP;
}
