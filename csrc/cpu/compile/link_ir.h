/* SPDX-License-Identifier: MIT */
/* The inputs of a link: from whatever came in to one module of text IR.  No state. */
#ifndef HA_CPU_COMPILE_LINK_IR_H
#define HA_CPU_COMPILE_LINK_IR_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/build.h"

struct ha_link_input { /* everything is owned */
    char *name;
    char *bytes; /* text or bitcode */
    size_t size;
};

/* The CPU device's IR inside an offload bundle, borrowed from it.  HA_ERROR_CORRUPT: no
 * bundle; HA_ERROR_UNSUPPORTED: one for other devices, with a text that names them. */
enum ha_status ha_link_unbundle(const void *bytes, size_t size, const char **ir,
                                size_t *ir_size);

/* Whether the bytes may be IR: HA_ERROR_CORRUPT, or HA_ERROR_UNSUPPORTED for IR of
 * another target as far as that is seen without a compiler. */
enum ha_status ha_link_check(const char *name, const char *bytes, size_t size);

/* One module of all inputs, as the rewriter takes it.  HA_ERROR_COMPILE,
 * HA_ERROR_UNSUPPORTED (IR of another target), or another failure of a build. */
enum ha_status ha_link_merge(struct ha_build *build, const struct ha_link_input *inputs,
                             uint32_t count, struct ha_bytes *ir);

#endif
