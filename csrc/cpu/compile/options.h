/* SPDX-License-Identifier: MIT */
/* hiprtc options, from the program to the compiler: an allow-list.
 *
 * Options come from programs that may take them from anywhere, and a compiler's command
 * line can name files to write, plugins to load and responses to read.  So each option
 * is parsed here, and only text that this file composed reaches the compiler; whatever
 * is not in the tables is refused by name.  Options that mean something on a GPU only
 * are accepted and noted in the log.
 *
 * Everything in struct ha_options is owned by it.  No state, no lock. */
#ifndef HA_CPU_COMPILE_OPTIONS_H
#define HA_CPU_COMPILE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/buffer.h"

/* The source is a whole program, preprocessed, with what HA_SOURCE_BEFORE says: the
 * device pass of hipadapt-cc. */
#define HA_OPTION_PROGRAM "-fhipadapt-program"
/* The image tells what the back end did: cpu/compile/back_facts.h. */
#define HA_OPTION_EXPLAIN "-fhipadapt-explain"

struct ha_options_context {
    const char *arch;                /* borrowed: gcnArchName of the device */
    uint32_t warp_size;              /* 32 or 64 */
    const char *const *header_names; /* borrowed: headers that the program registered */
    uint32_t header_count;
};

struct ha_options {
    struct ha_list front;    /* arguments of the front end, but for the next */
    struct ha_list search;   /* -I and -isystem, each with its directory */
    struct ha_list dirs;     /* these directories: absolute, in order */
    struct ha_list includes; /* registered headers to include before the source */
    struct ha_bytes macros;  /* lines for the source, behind our own headers */
    struct ha_bytes notes;   /* lines for the log */
    unsigned level;          /* of optimisation, 0 to 3 */
    bool relocatable;        /* -fgpu-rdc */
    bool program;            /* HA_OPTION_PROGRAM */
    bool explain;            /* HA_OPTION_EXPLAIN */
};

/* HA_ERROR_INVALID with a text that names the option.  `options` is released by the
 * caller in any case. */
enum ha_status ha_options_parse(const char *const *options, uint32_t count,
                                const struct ha_options_context *context,
                                struct ha_options *result);
void ha_options_release(struct ha_options *options);

#endif
