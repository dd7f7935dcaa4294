/* SPDX-License-Identifier: MIT */
/* The files that are loaded into this process. */
#ifndef HA_CORE_LOADED_H
#define HA_CORE_LOADED_H

/* Looks at all loaded files but the program, with no lock of the dynamic linker held:
 * `look` gets a handle, which is closed afterwards, until it answers false. */
void ha_loaded_each(int (*look)(void *library, const char *path, void *data),
                    void *data);

#endif
