/* SPDX-License-Identifier: MIT */
/* Status values of the plain C half, and the text that goes with the last failure.
 *
 * The text is per thread and stays until the next ha_error_set on that thread; a caller
 * that wants to keep it copies it.  Text never ends in a newline. */
#ifndef HA_CORE_STATUS_H
#define HA_CORE_STATUS_H

enum ha_status {
    HA_OK = 0,
    HA_ERROR_MEMORY,
    HA_ERROR_INVALID, /* the caller's argument */
    HA_ERROR_SYSTEM,  /* errno is in the text */
    HA_ERROR_NOT_FOUND,
    HA_ERROR_UNSUPPORTED,
    HA_ERROR_COMPILE, /* user's source; the log tells */
    HA_ERROR_TIMEOUT,
    HA_ERROR_CORRUPT, /* a file or image that fails its check */
};

/* Formats the text of this thread's last failure and returns `status`, so that a
 * function can `return ha_error_set(HA_ERROR_INVALID, ...)`.  Longer than 2 KiB is cut.
 */
__attribute__((format(printf, 2, 3))) enum ha_status
ha_error_set(enum ha_status status, const char *format, ...);

/* Borrowed, never NULL, "" where nothing failed yet. */
const char *ha_error_text(void);

#endif
