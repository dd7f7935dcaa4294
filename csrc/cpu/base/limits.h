/* SPDX-License-Identifier: MIT */
/* How much of the machine this process may use: by its affinity, and by the control
 * groups that it is in (versions 1 and 2), those above its own included.  What can't be
 * read is no limit. */
#ifndef HA_CPU_BASE_LIMITS_H
#define HA_CPU_BASE_LIMITS_H

#include <stdint.h>

#define HA_NO_LIMIT UINT64_MAX

/* Cores, at least one; a quota of a part of a core counts as one. */
unsigned ha_limits_cores(void);

/* Bytes of memory. */
uint64_t ha_limits_memory(void);

/* What the control groups alone say; `root` stands before the names of all files: ""
 * but for tests. */
uint64_t ha_limits_group_cores(const char *root);
uint64_t ha_limits_group_memory(const char *root);

#endif
