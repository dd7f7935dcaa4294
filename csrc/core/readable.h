/* SPDX-License-Identifier: MIT */
/* Whether memory can be read: asked of the system, so that nothing faults.
 *
 * For addresses that may be made up, or have been valid once.  The answer holds for
 * the moment: another thread can unmap the memory afterwards.  The price is a system
 * call for each page, so what is known to be alive is not asked about. */
#ifndef HA_CORE_READABLE_H
#define HA_CORE_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True where no memory of a process can be: in the first page, and from bit 56 on,
 * where handles of the CPU device are.  A comparison, no system call. */
static inline bool
ha_memory_impossible(const void *address)
{
    return (uintptr_t)address - 4096u >= ((uintptr_t)1 << 56) - 4096u;
}

/* True if all `bytes` bytes at `address` can be read; of 0 bytes always. */
bool ha_memory_readable(const void *address, size_t bytes);

/* True if a NUL is reached from `text` on with all bytes before it readable; *length is
 * the number of those. */
bool ha_text_readable(const char *text, size_t *length);

#endif
