/* SPDX-License-Identifier: MIT */
/* Copies in default streams that touch memory of another device: both devices' default
 * streams are ordered with them. */
#include "cpu_support.h"

enum { BYTES = 4096, LATE_US = 20000 };

static char *data[2]; /* of each device */
static char *pinned;

static void
host_late(void *unused)
{
    (void)unused;
    usleep(LATE_US);
}

static void
close_gate_of(int device, hipStream_t stream)
{
    OK(hipSetDevice(device));
    close_gate(stream);
}

/* All memory is 0, nothing runs. */
static void
start_anew(void)
{
    for (int i = 0; i < 2; i++) {
        OK(hipSetDevice(i));
        OK(hipDeviceSynchronize());
        OK(hipMemset(data[i], 0, BYTES));
        OK(hipDeviceSynchronize());
    }
    memset(pinned, 0, BYTES);
}

static int
last_pinned(void)
{
    usleep(LATE_US / 2);
    return __atomic_load_n(&pinned[BYTES - 1], __ATOMIC_ACQUIRE);
}

static void
test_copy_waits_for_the_default_stream_of_its_source(void)
{
    start_anew();
    close_gate_of(1, NULL);
    OK(hipMemsetAsync(data[1], 7, BYTES, NULL));
    OK(hipSetDevice(0));
    OK(hipMemcpyAsync(pinned, data[1], BYTES, hipMemcpyDefault, NULL));
    CHECK(last_pinned() == 0);
    CHECK_HIP(hipStreamQuery(NULL), hipErrorNotReady);
    gate_open = 1;
    OK(hipStreamSynchronize(NULL));
    CHECK(last_pinned() == 7);
}

static void
test_copy_waits_for_blocking_streams_of_its_source(void)
{
    hipStream_t stream;
    start_anew();
    OK(hipSetDevice(1));
    OK(hipStreamCreate(&stream));
    close_gate_of(1, stream);
    OK(hipMemsetAsync(data[1], 7, BYTES, stream));
    OK(hipSetDevice(0));
    OK(hipMemcpyPeerAsync(data[0], 0, data[1], 1, BYTES, NULL));
    OK(hipMemcpyAsync(pinned, data[0], BYTES, hipMemcpyDeviceToHost, NULL));
    CHECK(last_pinned() == 0);
    gate_open = 1;
    OK(hipStreamSynchronize(NULL));
    CHECK(last_pinned() == 7);
    OK(hipStreamDestroy(stream));
}

static void
test_synchronous_copies_wait_too(void)
{
    start_anew();
    for (int peer = 0; peer < 2; peer++) {
        OK(hipSetDevice(1));
        OK(hipLaunchHostFunc(NULL, host_late, NULL));
        OK(hipMemsetAsync(data[1], 7 + peer, BYTES, NULL));
        OK(hipSetDevice(0));
        if (peer) {
            OK(hipMemcpyPeer(data[0], 0, data[1], 1, BYTES));
            OK(hipMemcpy(pinned, data[0], BYTES, hipMemcpyDeviceToHost));
        } else {
            OK(hipMemcpy(pinned, data[1], BYTES, hipMemcpyDeviceToHost));
        }
        CHECK(pinned[0] == 7 + peer && pinned[BYTES - 1] == 7 + peer);
    }
}

static void
test_later_work_of_the_other_device_waits_for_the_copy(void)
{
    hipStream_t stream;
    start_anew();
    OK(hipSetDevice(1));
    OK(hipStreamCreate(&stream));
    close_gate_of(0, NULL);
    OK(hipMemsetAsync(data[0], 7, BYTES, NULL));
    OK(hipMemcpyAsync(data[1], data[0], BYTES, hipMemcpyDeviceToDevice, NULL));
    OK(hipSetDevice(1));
    OK(hipMemcpyAsync(pinned, data[1], BYTES / 2, hipMemcpyDeviceToHost, NULL));
    OK(hipMemcpyAsync(pinned + BYTES / 2, data[1] + BYTES / 2, BYTES / 2,
                      hipMemcpyDeviceToHost, stream));
    CHECK(last_pinned() == 0 && pinned[0] == 0);
    gate_open = 1;
    OK(hipDeviceSynchronize());
    CHECK(last_pinned() == 7 && pinned[0] == 7);
    OK(hipStreamDestroy(stream));
}

static void
test_fill_of_the_other_devices_memory_is_ordered(void)
{
    start_anew();
    close_gate_of(1, NULL);
    OK(hipMemsetAsync(data[1], 3, BYTES, NULL));
    OK(hipSetDevice(0));
    OK(hipMemsetAsync(data[1], 7, BYTES, NULL));
    gate_open = 1;
    OK(hipStreamSynchronize(NULL));
    OK(hipMemcpy(pinned, data[1], BYTES, hipMemcpyDeviceToHost));
    CHECK(last_pinned() == 7);
}

static void
test_other_streams_stay_independent(void)
{
    hipStream_t stream;
    start_anew();
    OK(hipMemset(data[1], 7, BYTES));
    OK(hipSetDevice(0));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    close_gate_of(1, NULL);
    OK(hipSetDevice(0));
    OK(hipMemcpyAsync(pinned, data[1], BYTES, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(last_pinned() == 7);
    /* Memory of the host belongs to no device, whichever it was made on. */
    OK(hipMemcpyAsync(pinned, data[0], BYTES, hipMemcpyDeviceToHost, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(last_pinned() == 0);
    gate_open = 1;
    OK(hipStreamDestroy(stream));
}

static void
test_capture_on_the_other_device_is_left_alone(void)
{
    hipStream_t stream;
    hipGraph_t graph;
    start_anew();
    OK(hipSetDevice(1));
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    OK(hipSetDevice(0));
    OK(hipMemsetAsync(data[0], 7, BYTES, NULL));
    OK(hipMemcpyAsync(data[1], data[0], BYTES, hipMemcpyDeviceToDevice, NULL));
    OK(hipStreamSynchronize(NULL));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    for (int i = 0; i < 2; i++) {
        OK(hipSetDevice(i));
        OK(hipMalloc((void **)&data[i], BYTES));
    }
    OK(hipHostMalloc((void **)&pinned, BYTES, hipHostMallocDefault));
    RUN(test_copy_waits_for_the_default_stream_of_its_source);
    RUN(test_copy_waits_for_blocking_streams_of_its_source);
    RUN(test_synchronous_copies_wait_too);
    RUN(test_later_work_of_the_other_device_waits_for_the_copy);
    RUN(test_fill_of_the_other_devices_memory_is_ordered);
    RUN(test_other_streams_stay_independent);
    RUN(test_capture_on_the_other_device_is_left_alone);
    start_anew();
    for (int i = 0; i < 2; i++) {
        OK(hipFree(data[i]));
    }
    OK(hipHostFree(pinned));
    return 0;
}
