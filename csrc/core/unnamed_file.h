/* SPDX-License-Identifier: MIT */
/* A file for bytes of this process, which nobody else finds by a name.
 *
 * It is in memory (memfd_create).  Where the kernel, or a filter of a container,
 * refuses that, it lies in $TMPDIR, else /tmp, and its name is removed at once.  Others
 * reach it as /proc/self/fd/<descriptor>; where there is no /proc, it keeps its name.
 */
#ifndef HA_CORE_UNNAMED_FILE_H
#define HA_CORE_UNNAMED_FILE_H

/* The descriptor, which the caller closes, or -1 with errno.  `name` shows up in /proc.
 * `path`, if it is not NULL, gets NULL, or the path of a file that must be had by a
 * name: the caller frees it by ha_unnamed_file_forget. */
int ha_unnamed_file(const char *name, char **path);

/* Removes the file at the path, and frees that; NULL is nothing. */
void ha_unnamed_file_forget(char *path);

/* The folder for temporary files. */
const char *ha_temporary_folder(void);

#endif
