/* SPDX-License-Identifier: MIT */
/* What a record says of its moment: the thread and the time. */
#ifndef HA_ROCPROFILER_STAMP_H
#define HA_ROCPROFILER_STAMP_H

#include <stdint.h>

uint64_t ha_thread_id(void);
/* Nanoseconds of CLOCK_BOOTTIME. */
uint64_t ha_timestamp(void);

#endif
