/* SPDX-License-Identifier: MIT */
/* The compiler's messages as the program should see them: headers under the names that
 * the program knows, nothing about the target that the front end believes in, and no
 * plea to report our use of the compiler to its makers.  Pure; no lock. */
#ifndef HA_CPU_COMPILE_MESSAGES_H
#define HA_CPU_COMPILE_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/compile/buffer.h"

struct ha_messages_paths {  /* everything is borrowed */
    const char *folder;     /* of the program's headers, "" if there is none */
    const char *device_dir; /* of our headers */
    const char *const *header_names;
    uint32_t header_count;
};

/* Appends whole lines to the log; what is beyond the first MiB is counted, not shown.
 */
void ha_messages_append(struct ha_bytes *log, const char *text, size_t size,
                        const struct ha_messages_paths *paths);

#endif
