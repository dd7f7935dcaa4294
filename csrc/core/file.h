/* SPDX-License-Identifier: MIT */
/* Files and folders that others may tamper with: opened without following links, owners
 * checked, written under a new name and renamed. */
#ifndef HA_CORE_FILE_H
#define HA_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* Reads a whole regular file.  With `own` set the file must belong to this user and be
 * writable by no other user.  After success the caller frees *bytes, which has one more
 * byte, a NUL, after *size.  HA_ERROR_NOT_FOUND where there is no such file. */
enum ha_status ha_file_read(const char *path, bool own, void **bytes, size_t *size);

/* The same for a text, which has no NUL within: HA_ERROR_INVALID names the path. */
enum ha_status ha_file_read_text(const char *path, bool own, char **text);

/* Writes all of it; 0, or -1 with errno.  A limit of the process on the size of files
 * is EFBIG and no signal. */
int ha_file_write_all(int fd, const void *bytes, size_t size);

/* Writes dir/name with mode 0600: a new temporary file, then rename.  Nothing is left
 * behind on failure, and an older file stays whole.  The disk is not waited for: where
 * the machine stops, the file may be cut short or empty, which its reader has to find.
 */
enum ha_status ha_file_write_atomic(const char *dir, const char *name,
                                    const void *bytes, size_t size);

/* Writes the file that a user named, as any program does: through links, and into
 * devices and pipes. */
enum ha_status ha_file_write(const char *path, const void *bytes, size_t size);

/* Makes the folder and its parents if need be (0700) and checks that the last one is a
 * real folder of this user that nobody else may write or read. */
enum ha_status ha_dir_private(const char *path);

#endif
