/* SPDX-License-Identifier: MIT */
/* printf of kernels: formatted where it is called, kept in one buffer of the process,
 * and written to stdout when the host synchronises.
 *
 * The text of one call stays together.  A launch has room for a limited number of
 * bytes; what finds none is dropped as a whole and counted, and the count is printed
 * when the launch ends.  Formats and strings are read with care: a bad address is shown
 * as text.
 *
 * Locks: flush_lock, then buffer_lock.  Kernel code holds only the latter, inside a
 * busy section, so a kernel that is ended never leaves it locked. */
#ifndef HA_CPU_EXEC_PRINT_H
#define HA_CPU_EXEC_PRINT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct ha_launch;

#define HA_PRINT_LIMIT_BYTES ((uint64_t)1 << 20)

/* The table entry for images; only called in kernel code.  Returns the characters of
 * the text, -1 if it was dropped. */
__attribute__((format(printf, 1, 2))) int ha_print_call(const char *format, ...);

/* Formats into text[0..size), always ended by NUL; returns the full length.
 * Conversions: d i u o x X c s p f F e E g G a A %, lengths hh h l ll z j t L (a
 * double), width and precision up to 1000, also by *.  %n and what is unknown is
 * printed as it stands. */
size_t ha_print_format(char *text, size_t size, const char *format, va_list args);

/* The launch has ended: says how many calls it lost. */
void ha_print_finish(struct ha_launch *launch, const char *kernel);

/* Writes everything to stdout. */
void ha_print_flush(void);

/* Bytes that each launch of the device from now on may print: hipLimitPrintfFifoSize.
 */
void ha_print_set_limit(uint32_t device, uint64_t bytes);
uint64_t ha_print_limit(uint32_t device);
/* Back to HA_PRINT_LIMIT_BYTES. */
void ha_print_reset(uint32_t device);

/* In the forked child: what is in the buffer is the parent's to print. */
void ha_print_after_fork_child(void);

#endif
