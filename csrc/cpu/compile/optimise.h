/* SPDX-License-Identifier: MIT */
/* The front end's optimiser as a process of its own.
 *
 * The front end takes each function of the device for one that others may call.  All of
 * them are inlined into all others, so a chain of n functions is optimised as one of n,
 * one of n - 1, and so on: a kernel that calls 60 functions in a row took a second.  No
 * other module can call them here.  Between front end and optimiser they become
 * functions of the module, and those that were inlined everywhere are gone before
 * anything looks at them.
 *
 *     define dso_local float @f(...)         ->   define internal float @f(...)
 *     define dso_local ptx_kernel void @k(   stays
 *
 * One more process costs more than it saves for a few functions.  No lock. */
#ifndef HA_CPU_COMPILE_OPTIMISE_H
#define HA_CPU_COMPILE_OPTIMISE_H

#include "cpu/compile/build.h"

/* Whether a source has so many functions that the optimiser is to be apart. */
bool ha_optimise_apart(const char *source, size_t size);

/* Needs: a module as the front end leaves it without optimisation, mapped.  After
 * success it is what the front end's own optimiser would leave, but for functions that
 * no kernel needs if it is `closed`: no other module calls its functions.  A build that
 * checks gets its questions before that. */
enum ha_status ha_optimise(struct ha_build *build, struct ha_memory_file *ir,
                           bool closed);

#endif
