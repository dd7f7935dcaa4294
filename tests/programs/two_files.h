/* SPDX-License-Identifier: MIT */
#pragma once
#include "check.h"

template <class T> __global__ void common(T *x, T value) { *x = value; }

int other_put(int *d);
int other_common(int *d);
