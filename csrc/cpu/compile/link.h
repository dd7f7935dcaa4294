/* SPDX-License-Identifier: MIT */
/* Link states: several pieces of relocatable device code become one image.  What
 * hiprtcLink* and hipLink* share (cpu/entry/link.c).
 *
 * An *input* is LLVM IR of the device front end's own target (HA_FRONT_TRIPLE), as text
 * or as bitcode: what -fgpu-rdc makes, or IR of the program's own.  Linking makes one
 * module of all inputs, optimises it, and goes on as compiling does
 * (cpu/compile/build.h).  IR may ask for its coordinates by
 * llvm.nvvm.read.ptx.sreg.{tid,ntid,ctaid,nctaid}.{x,y,z} and wait at
 * llvm.nvvm.barrier0.  What was linked once is in cpu/compile/cache.h.
 *
 * A state takes inputs until it was completed with success.  A link that fails leaves
 * it open: more inputs may mend it.  The image belongs to the state.
 *
 * A state is a handle (cpu/base/handle.h).  Each has a lock, a leaf; while it links it
 * is *busy* without the lock, and other threads wait for its end. */
#ifndef HA_CPU_COMPILE_LINK_H
#define HA_CPU_COMPILE_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

enum ha_link_answer { /* ha_error_text says more about all but the first */
                      HA_LINK_OK,
                      HA_LINK_HANDLE,   /* not a link state, or destroyed */
                      HA_LINK_ARGUMENT, /* an argument is NULL or out of range, or comes
                                           too late */
                      HA_LINK_OPTION,
                      HA_LINK_KIND, /* an input type that the CPU device does not take
                                     */
                      HA_LINK_CONTENT, /* an input that is not what its type says */
                      HA_LINK_FILE,    /* a file that cannot be read */
                      HA_LINK_FAILED,  /* undefined or doubly defined symbols, IR for
                                          another target */
                      HA_LINK_MEMORY,
                      HA_LINK_SYSTEM, /* no compiler, no process */
};

/* Options: the log buffers, the level of optimisation and IR-to-ISA options mean
 * something; others are accepted.  Buffers are the caller's until the state is
 * destroyed; they are written by ha_link_complete. */
struct ha_link_options {
    unsigned count;
    const hipJitOption *names; /* borrowed */
    void *const *values;       /* borrowed */
    uint32_t warp_size; /* of the devices; options of the compiler may name another */
};

enum ha_link_answer ha_link_create(const struct ha_link_options *options,
                                   uint64_t *state);

/* Copies the bytes and the name (NULL: the input's number).  Options of one input are
 * checked only. */
enum ha_link_answer ha_link_add_data(uint64_t state, hipJitInputType type,
                                     const void *bytes, size_t size, const char *name,
                                     const struct ha_link_options *options);
enum ha_link_answer ha_link_add_file(uint64_t state, hipJitInputType type,
                                     const char *path,
                                     const struct ha_link_options *options);

/* The image for devices with warps of `warp_size` lanes, borrowed from the state; the
 * same again once it is complete. */
enum ha_link_answer ha_link_complete(uint64_t state, uint32_t warp_size, void **image,
                                     size_t *size);

enum ha_link_answer ha_link_destroy(uint64_t state);

#endif
