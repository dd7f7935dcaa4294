/* SPDX-License-Identifier: MIT */
/* How every key of the cache begins: with what turns an input into code.
 *
 * That is this library's own text (HA_IMAGE_SOURCES, a hash that tools/native.py makes
 * of cpu/compile and cpu/base/image.h), the compiler, the device headers, and the
 * settings that hold for every input.  The caller adds the input.  Pure but for reading
 * the environment; no lock. */
#ifndef HA_CPU_COMPILE_CACHE_KEY_H
#define HA_CPU_COMPILE_CACHE_KEY_H

#include <stdint.h>

#include "cpu/compile/buffer.h"
#include "cpu/compile/toolchain.h"

/* `what` tells keys of different inputs apart: "kernel", "link". */
void ha_cache_key_begin(struct ha_bytes *key, const char *what,
                        const struct ha_toolchain *toolchain, uint32_t warp_size,
                        unsigned level);

#endif
