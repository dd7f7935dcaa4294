/* SPDX-License-Identifier: MIT */
/* What a trace calls a kernel: its name as it was written, and its symbol where that
 * differs.  Each symbol is read once in a process; texts are kept as names are
 * (tool/name.h).  One thread at a time. */
#ifndef HA_TOOL_KERNEL_LABEL_H
#define HA_TOOL_KERNEL_LABEL_H

#include <stdint.h>

#include "tool/table.h"

struct ha_kernel_label {
    const char *name; /* never empty */
    const char *args; /* `"symbol":"_Z3fooPi"`, as members of JSON; "": none */
};

/* Of a kernel by the library's number.  `labels` has those that were asked for. */
struct ha_kernel_label ha_kernel_label(struct ha_table *labels, uint64_t kernel);

#endif
