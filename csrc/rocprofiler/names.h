/* SPDX-License-Identifier: MIT */
/* Names and numbers of kinds and operations. */
#ifndef HA_ROCPROFILER_NAMES_H
#define HA_ROCPROFILER_NAMES_H

#include <stdint.h>

#include "rocprofiler/sdk.h"

/* Sets *name and *name_len (either may be NULL); `missing` where there is no name. */
rocprofiler_status_t ha_name_answer(const char *found, rocprofiler_status_t missing,
                                    const char **name, uint64_t *name_len);

/* Names, or NULL. */
const char *ha_callback_kind_name(int kind);
const char *ha_buffer_kind_name(int kind);
const char *ha_request_kind_name(int kind);

/* The number of operations of a kind, which are [first, first + count). */
unsigned ha_callback_operations(int kind, int *first);
unsigned ha_buffer_operations(int kind, int *first);

#endif
