/* SPDX-License-Identifier: MIT */
/* A field of floats on the device, and what can be done with it. */
#pragma once

#include <vector>

/* All values added up, on the device; negative if a call of HIP fails. */
double field_sum(const std::vector<float> &values);
