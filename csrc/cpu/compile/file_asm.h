/* SPDX-License-Identifier: MIT */
/* Assembly outside of functions, which the front end drops silently when it
 * compiles for a device.
 *
 * It leaves nothing in the IR, so it is looked for in the source as the front end
 * prints it.  That takes another run of the front end, which most programs are spared:
 * they have no word that could begin assembly.  Pure; no lock. */
#ifndef HA_CPU_COMPILE_FILE_ASM_H
#define HA_CPU_COMPILE_FILE_ASM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a source may have some: `asm` in any spelling, without the `volatile` or
 * `goto` that can only stand in functions. */
bool ha_file_asm_possible(const char *text, size_t size);

/* The first one in what `-ast-print` wrote, borrowed, with its length; NULL if there is
 * none. */
const char *ha_file_asm_find(const char *printed, size_t size, size_t *length);

#endif
