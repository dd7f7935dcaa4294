/* SPDX-License-Identifier: MIT */
/* From HIP source text to the bytes of an image (cpu/compile/image_file.h).
 *
 *     source --clang--> device IR --rewrite--> host IR --clang--> object --lld--> ELF
 *
 * The three arrows with a program's name are child processes (cpu/compile/build.h); all
 * texts pass through memory files.  What comes out is kept in cpu/compile/cache.h under
 * a hash of everything that went in.
 *
 * The *log* is what hiprtcGetProgramLog shows: notes about options, then the compiler's
 * messages under the program's own file names, then what we have to say.
 *
 * No global state but the cache's; safe to call from any thread. */
#ifndef HA_CPU_COMPILE_COMPILE_H
#define HA_CPU_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/compile_result.h"

/* Bytes of a source with its headers and name expressions.  Larger ones run into the
 * limits on time and memory anyhow. */
#define HA_COMPILE_SOURCE_MAX ((size_t)64 << 20)

struct ha_compile_request { /* everything is borrowed */
    const char *source;
    size_t source_size;
    const char *name; /* of the source file, in messages */
    const char *const *header_names;
    const char *const *header_texts;
    uint32_t header_count;
    const char *const *expressions; /* name expressions */
    uint32_t expression_count;
    const char *const *options;
    uint32_t option_count;
    const char *arch; /* gcnArchName of the device */
    uint32_t warp_size;
    bool (*interrupted)(void); /* may be NULL; true ends the compilation */
};

/* HA_OK: there is an image.  Otherwise the log says why, too: HA_ERROR_COMPILE for the
 * source, HA_ERROR_UNSUPPORTED for source that the CPU device cannot run,
 * HA_ERROR_INVALID for an option, HA_ERROR_TIMEOUT for a limit or an interrupt,
 * HA_ERROR_NOT_FOUND where no compiler is installed, HA_ERROR_MEMORY, HA_ERROR_SYSTEM.
 * The result is to be released in any case. */
enum ha_status ha_compile(const struct ha_compile_request *request,
                          struct ha_compile_result *result);

#endif
