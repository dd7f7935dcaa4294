// SPDX-License-Identifier: MIT
// Kernels of a program send tensors, which the program itself reads.
// flags: -lhipadapt_tool
// expect: all: float64 2x4: 16
// expect: in block 0: float64 4: 2 4 6 8
// expect: in block 1: float64 4: 10 12 14 16
// expect: 8 lanes: 0 1 2 3 4 5 6 7
// expect: 8 prints of _Z5scaleIdEvPT_S0_i
#include <hip/hip_runtime.h>
#include <hipadapt/debug_stream.h>
#include <hipadapt/debug_tensor.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <poll.h>

template <class T> __global__ void scale(T *x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
    __syncthreads();
    T *own = x + blockIdx.x * blockDim.x;
    ha_debug_tensor_block(blockIdx.x == 0 ? "block 0" : "block 1", 1, own, blockDim.x);
    ha_debug_tensor("lane", 2, &i);
    printf("");
}

template <class T> __global__ void sum(const T *x, int n) {
    ha_debug_tensor_launch("all", 1, x, 2, n / 2);
}

using tensor = hipadapt_debug_stream_payload_debug_tensor_read_t;
using kernel = hipadapt_debug_stream_payload_kernel_t;

static std::map<std::string, tensor *> tensors;
static std::map<std::string, int> prints;
static std::vector<int> lanes;

static void keep(const hipadapt_debug_stream_event_header_t &header, void *payload) {
    if (header.type == HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_PRINT) {
        prints[static_cast<kernel *>(payload)->kernel]++;
        std::free(payload);
        return;
    }
    auto *read = static_cast<tensor *>(payload);
    if (std::string("lane") == read->prefix) {
        lanes.push_back(*reinterpret_cast<int *>(read->tensor_data));
        std::free(payload);
    } else {
        tensors[read->prefix] = read;
    }
}

int main() {
    const uint32_t types[] = {HIPADAPT_DEBUG_STREAM_EVENT_TYPE_KERNEL_PRINT};
    double *x, host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int fd;

    if (hipInit(0) || hipadapt_debug_stream_connect_types(0, types, 1, &fd)) return 2;
    if (hipMalloc(&x, sizeof host)) return 3;
    if (hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice)) return 4;
    scale<<<2, 4>>>(x, 2.0, 8);
    sum<<<3, 32>>>(x, 8);
    if (hipDeviceSynchronize()) return 5;
    for (pollfd one = {fd, POLLIN, 0}; poll(&one, 1, 0) == 1;) {
        hipadapt_debug_stream_event_header_t header;
        void *payload;
        if (hipadapt_debug_stream_read_one_event(fd, &header, &payload)) return 6;
        keep(header, payload);
    }
    hipadapt_debug_stream_close(fd);

    tensor *all = tensors["all"];
    std::printf("all: %s %llux%llu: %g\n", all->tensor_dtype,
                (unsigned long long)all->tensor_shape[0],
                (unsigned long long)all->tensor_shape[1],
                reinterpret_cast<double *>(all->tensor_data)[7]);
    for (const char *name : {"block 0", "block 1"}) {
        tensor *block = tensors[name];
        auto *v = reinterpret_cast<double *>(block->tensor_data);
        std::printf("in %s: %s %llu: %g %g %g %g\n", name, block->tensor_dtype,
                    (unsigned long long)block->tensor_shape[0], v[0], v[1], v[2], v[3]);
    }
    std::sort(lanes.begin(), lanes.end());
    std::printf("%d lanes:", (int)lanes.size());
    for (int lane : lanes) std::printf(" %d", lane);
    std::printf("\n");
    for (auto &[name, count] : prints) std::printf("%d prints of %s\n", count, name.c_str());
}
