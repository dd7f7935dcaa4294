// SPDX-License-Identifier: MIT
// A forked child has the program's kernels too, once it has started HIP anew.
// expect: parent 1
// expect: child hipErrorNotInitialized
// expect: child 1
// expect: parent 1
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__device__ int step = 1;

__global__ void put(int *x) { *x = step; }

static void show(const char *who) {
    int *d, x;
    CHECK(hipMalloc(&d, sizeof *d));
    put<<<1, 1>>>(d);
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("%s %d\n", who, x);
    fflush(stdout);
    CHECK(hipFree(d));
}

int main() {
    show("parent");
    pid_t child = fork();
    if (child == 0) {
        put<<<1, 1>>>(nullptr);
        printf("child %s\n", hipGetErrorName(hipGetLastError()));
        CHECK(hipInit(0));
        show("child");
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    show("parent");
}
