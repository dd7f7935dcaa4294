/* SPDX-License-Identifier: MIT */
/* The processor that this library is built for.
 *
 * All that is not portable is one file a machine, x86_64.c and aarch64.c here; the
 * others are empty when compiled.  Such a file has the numbers of this header, and the
 * code of context.h and lanes.h.  A *level* is a set of instructions that kernels may
 * be compiled for.  docs/porting.md says how to add a machine. */
#ifndef HA_CPU_MACHINE_MACHINE_H
#define HA_CPU_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct ha_machine_level {
    const char *name;      /* for HIPADAPT_CPU_TARGET */
    const char *processor; /* clang's -target-cpu */
    const char *feature;   /* clang's -target-feature beyond that; NULL: none */
    uint32_t gang_width;   /* lanes of a gang: floats in a vector, and at least 8 */
    char vector_math;      /* of names of libmvec, for vectors of gang_width floats: the
                              'd' of _ZGVdN8v_expf; 0: libmvec is not called */
    bool fuses;            /* one instruction for a product and a sum, rounded once */
};

struct ha_machine {
    const char *name; /* as triples and bundles begin */
    const char *triple;
    const char *data_layout; /* clang's, for this triple */
    uint16_t elf_machine;
    uint32_t level_count;
    const struct ha_machine_level *levels; /* each has all that the one before has */
};

extern const struct ha_machine ha_machine;

/* Number of the highest level that this processor and the operating system have. */
uint32_t ha_machine_level_find(void);

#endif
