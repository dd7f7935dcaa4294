/* SPDX-License-Identifier: MIT */
/* What compiling and linking give, and what the cache keeps.  No lock: one owner at a
 * time. */
#ifndef HA_CPU_COMPILE_COMPILE_RESULT_H
#define HA_CPU_COMPILE_COMPILE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ha_compile_result { /* everything is owned */
    char *log;             /* "" or lines; NULL only if memory ran out */
    char *image;           /* of cpu/compile/image_file.h; bitcode if relocatable */
    size_t image_size;
    bool relocatable; /* -fgpu-rdc: to be linked, cpu/compile/link.h */
    char **lowered;   /* one name an expression; NULL where there is none */
    uint32_t lowered_count;
    bool cached; /* nothing was compiled */
};

/* Frees everything; the result is then as if zeroed. */
void ha_compile_result_release(struct ha_compile_result *result);

#endif
