/* SPDX-License-Identifier: MIT */
/* Tracing of roctx calls. */
#ifndef HA_ROCPROFILER_MARKER_H
#define HA_ROCPROFILER_MARKER_H

/* Puts wrappers into roctx's three tables: core, control, name. */
void ha_marker_wrap(void *const *tables);

#endif
