/* SPDX-License-Identifier: MIT */
/* Where a trace comes from, besides the machine: the job that the program belongs to,
 * the versions of HIP, and the number that tells traces apart. */
#ifndef HA_TOOL_PROFILER_ORIGIN_H
#define HA_TOOL_PROFILER_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HA_ORIGIN_ID_BYTES = 35 };

/* Reads the variables of the job, once in a process.  A thread of the program calls it,
 * for the program may be changing its environment while ours run. */
void ha_origin_learn_job(void);

/* Entry `at` of the job that was learnt; `value` is JSON text.  Both stay for the life
 * of the process.  False: there is none. */
bool ha_origin_job(size_t at, const char **key, const char **value);

/* HIP's own numbers, from the library that is loaded; 0 where none is, or where it does
 * not say.  The call of HIP that asks is in no trace. */
void ha_origin_hip(int32_t *runtime, int32_t *driver);

/* A number that no other trace has, as a JSON string. */
void ha_origin_id(char text[HA_ORIGIN_ID_BYTES]);

#endif
