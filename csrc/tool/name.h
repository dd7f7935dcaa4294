/* SPDX-License-Identifier: MIT */
/* Names: texts that events refer to by number, for the life of the process.  Any thread
 * may call these; one lock guards all of them. */
#ifndef HA_TOOL_NAME_H
#define HA_TOOL_NAME_H

#include <stdint.h>

/* The number of a text; 0 for NULL and where there is no room. */
uint32_t ha_name_of(const char *text);

/* The text; "" for 0 and unknown numbers. */
const char *ha_name_text(uint32_t number);

/* Kernels by the number that the profiler's library gives them. */
void ha_kernel_name_set(uint64_t kernel, uint32_t name);
uint32_t ha_kernel_name_get(uint64_t kernel);

/* Fork hook of the child. */
void ha_names_forked(void);

#endif
