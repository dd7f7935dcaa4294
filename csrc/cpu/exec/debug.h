/* SPDX-License-Identifier: MIT */
/* Tensors that kernels send to a debug stream (hipadapt/debug_tensor.h).
 *
 * A lane gives a description of memory, which is read with care: bad addresses, shapes
 * beyond their allocation and unknown dtypes are refused, with one line a launch on the
 * log.  Nobody waits for the reader. */
#ifndef HA_CPU_EXEC_DEBUG_H
#define HA_CPU_EXEC_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/debug_sink.h"
#include "cpu/base/image.h"

/* The table entry for images; only called in kernel code.  0: it was sent, or dropped,
 * or nobody listens; 1: it was refused. */
uint32_t ha_debug_call(const struct ha_image_tensor *tensor);

/* The memory room's answer to whether a kernel may touch the bytes; `beside`: they run
 * out of an allocation. */
void ha_debug_set_access(bool (*question)(const void *address, uint64_t size,
                                          bool *beside));

/* Another sink, or none. */
void ha_debug_set_sink(const struct ha_debug_sink *sink);

/* NULL: none. */
const struct ha_debug_sink *ha_debug_get_sink(void);

#endif
