/* SPDX-License-Identifier: MIT */
/* Reports of loaded modules to a profiler (abi/activity.h).
 *
 * Locks: none is held, since the profiler's tools run here. */
#ifndef HA_CPU_MODULE_REPORT_H
#define HA_CPU_MODULE_REPORT_H

struct ha_module;

/* A module was loaded. */
void ha_report_loaded(const struct ha_module *module);

/* A module is about to go.  The ends of its kernels are reported before: this waits for
 * them, for some time at most. */
void ha_report_unloading(const struct ha_module *module);

/* Reports all modules that are loaded, and kernels that fill memory, whatever is
 * wanted. */
void ha_report_all(void);

#endif
