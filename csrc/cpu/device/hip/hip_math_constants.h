/* SPDX-License-Identifier: MIT */
#pragma once
#pragma clang system_header
#include <math.h>
