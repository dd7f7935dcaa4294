/* SPDX-License-Identifier: MIT */
/* Objects of parts of host IR (cpu/compile/rewrite_parts.h) in the cache, so that after
 * an edit only the parts with a change are compiled; and the archive that the linker
 * gets.
 *
 * The key is a hash of the compiler, its arguments and the very text that it would get,
 * so an object is never that of another text.  Any thread; no lock: where two processes
 * compile the same part, both write the same entry. */
#ifndef HA_CPU_COMPILE_OBJECTS_H
#define HA_CPU_COMPILE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/cache.h"
#include "cpu/compile/process.h"
#include "cpu/compile/toolchain.h"

/* Of what a compiler that gets `arguments` and `text` makes.  False: no memory. */
bool ha_object_key(const struct ha_toolchain *toolchain,
                   const struct ha_list *arguments, const char *text, size_t size,
                   uint8_t key[HA_CACHE_KEY_BYTES]);

/* Whether it was there; `object` is then open and mapped. */
bool ha_object_load(const uint8_t key[HA_CACHE_KEY_BYTES],
                    struct ha_memory_file *object);
/* `object` is mapped. */
void ha_object_store(const uint8_t key[HA_CACHE_KEY_BYTES],
                     const struct ha_memory_file *object);

/* All mapped objects as one file for the linker, which opens `archive`. */
enum ha_status ha_object_archive(const struct ha_memory_file *objects, uint32_t count,
                                 struct ha_memory_file *archive);

#endif
