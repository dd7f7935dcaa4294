/* SPDX-License-Identifier: MIT */
/* Which compiler, which device headers and which host processor kernels are built with.
 *
 * The compiler is the `zig` executable of the ziglang wheel; its clang and ld.lld are
 * run as `zig clang -cc1` and `zig ld.lld`.  It is looked for here, first hit wins:
 * HIPADAPT_COMPILER, hipadaptSetCompiler, `ziglang/zig` in each directory above this
 * library.  The first two are definite: if they name something that cannot be run, that
 * is an error and not a reason to look elsewhere.
 *
 * The device headers are in `device/` beside this library.  Their hash is computed once
 * a process.  One lock, a leaf, guards the path that hipadaptSetCompiler sets. */
#ifndef HA_CPU_COMPILE_TOOLCHAIN_H
#define HA_CPU_COMPILE_TOOLCHAIN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/machine/machine.h"

/* The release whose IR cpu/compile/rewrite.c reads, and its clang as IR names it. */
#define HA_ZIG_VERSION "0.15.2"
#define HA_CLANG_IDENT "clang version 20.1."

#define HA_HASH_BYTES 32

/* Below the device headers: what the C and C++ libraries have for kernels. */
#define HA_FREESTANDING "hipadapt/freestanding"

struct ha_toolchain {
    char zig[PATH_MAX];
    char device_dir[PATH_MAX];            /* holds the device headers */
    uint8_t compiler_id[HA_HASH_BYTES];   /* of zig and of this library */
    uint8_t device_id[HA_HASH_BYTES];     /* of names and bytes of the device headers */
    const char *triple;                   /* of this host */
    const struct ha_machine_level *level; /* target_cpu.h; constant */
    char vector_math; /* that of the level, if libmvec can be loaded; else 0 */
};

/* HA_ERROR_NOT_FOUND with a text that lists the paths tried and says what to do. */
enum ha_status ha_toolchain_find(struct ha_toolchain *toolchain);

/* For language bindings: where the zig of the installed ziglang package is; NULL
 * forgets. HIPADAPT_COMPILER comes before it. */
__attribute__((visibility("default"))) void hipadaptSetCompiler(const char *zig_path);

#endif
