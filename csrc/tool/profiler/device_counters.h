/* SPDX-License-Identifier: MIT */
/* Counters of devices, sampled while a recording goes on.
 *
 * The profiler's library counts for a device within a context.  Contexts are made when
 * somebody first asks for counters, as a client of their own: to know the devices
 * starts HIP, which a profiler that only watches must not do.  Each sample is an event
 * of the recorder's collector for each counter: kind HA_KIND_COUNTER; name; device;
 * bytes: the bits of a double, what was counted since the start.
 *
 * Any thread may call these, under one lock.  What the library calls meanwhile does not
 * take it. */
#ifndef HA_TOOL_PROFILER_DEVICE_COUNTERS_H
#define HA_TOOL_PROFILER_DEVICE_COUNTERS_H

#include "core/status.h"
#include "tool/ring.h"

/* Begins to count by name, between commas; NULL: nothing.  HA_ERROR_INVALID with the
 * list of right ones; HA_ERROR_UNSUPPORTED where no device counts, or the system
 * forbids it. */
enum ha_status ha_device_counters_prepare(const char *names);

/* Values are sums from here on: the first sample. */
void ha_device_counters_start(struct ha_collector *collector);

/* A sample, if it has started, and unless the last one is younger than a few
 * milliseconds. */
void ha_device_counters_sample(struct ha_collector *collector);

/* Takes the last sample, if it has started, and counts no more. */
void ha_device_counters_stop(struct ha_collector *collector);

#endif
