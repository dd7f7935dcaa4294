/* SPDX-License-Identifier: MIT */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
