/* SPDX-License-Identifier: MIT */
/* What every program needs: a check that says which call failed, and ends. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include <hip/hip_runtime.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        hipError_t code_ = (call);                                                     \
        if (code_ != hipSuccess) {                                                     \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                       \
                   hipGetErrorName(code_));                                            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)
