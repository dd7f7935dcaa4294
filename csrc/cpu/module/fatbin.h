/* SPDX-License-Identifier: MIT */
/* Fat binaries: several code objects in one piece of memory, of which a device takes
 * the one that was made for it.
 *
 * A program has a *wrapper*, which points at the binary:
 *
 *     0  magic 0x48495046 ("HIPF")   4  version 1   8  binary   16  unused
 *
 * The binary is an *offload bundle*, or one code object without a bundle:
 *
 *     0   magic "__CLANG_OFFLOAD_BUNDLE__"
 *     24  number of entries
 *     32  each entry: offset, size, length of its id (8 bytes each), and the id
 *
 * An id names the target of the code: "hipv4-amdgcn-amd-amdhsa--gfx942".  Code of the
 * CPU device has "hipv4-x86_64-hipadapt-linux-gnu--gfx000:cpu" or the like, for warps
 * of 64 lanes with HA_FATBIN_WAVE64 behind it, and is an image of
 * cpu/compile/image_file.h.
 *
 * No state, no lock; what is found is borrowed from the binary. */
#ifndef HA_CPU_MODULE_FATBIN_H
#define HA_CPU_MODULE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/device.h"

#define HA_FATBIN_WAVE64 ":wave64"
#define HA_FATBIN_ID_BYTES 96

#define HA_FATBIN_WRAPPER_MAGIC 0x48495046u
#define HA_FATBIN_WRAPPER_VERSION 1u

struct ha_fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *binary; /* borrowed */
    const void *unused;
};

_Static_assert(sizeof(struct ha_fatbin_wrapper) == 24, "compilers write the wrapper");

/* Writes the device's id, NUL terminated, and returns its length. */
size_t ha_fatbin_id(char id[HA_FATBIN_ID_BYTES]);

/* The device's code object in a bundle, and its size; what is no bundle is given back
 * as it is.  `size` 0 = unknown: the system is asked whether what the bundle claims can
 * be read (core/readable.h).  Fails
 * with hipErrorNoBinaryForGpu if there is none, hipErrorInvalidImage for nonsense. */
hipError_t ha_fatbin_pick(const void *bytes, size_t size, const void **image,
                          size_t *image_size);

/* Lanes of a warp in the device's code in a bundle of unknown size; 0 if it has none.
 */
uint32_t ha_fatbin_warp_size(const void *bytes);

/* The binary that a wrapper points at, or NULL if it is no wrapper.  `size` as above;
 * how large the binary is, is not known. */
const void *ha_fatbin_unwrap(const void *wrapper, size_t size);

#endif
