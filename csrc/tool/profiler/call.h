/* SPDX-License-Identifier: MIT */
/* What is known of calls of HIP by their names. */
#ifndef HA_TOOL_PROFILER_CALL_H
#define HA_TOOL_PROFILER_CALL_H

/* The name that CUDA has for a call which readers of traces look for; NULL: none. */
const char *ha_call_cuda_name(const char *name);

#endif
