/* SPDX-License-Identifier: MIT */
/* Kernels that are called: kernel[grid, block, shared, stream](*args).
 *
 * A *kernel* has the address of a HIP function and, where it is known, its *signature*:
 * place, size and kind of each argument.  A *launch configuration* is what kernel[...]
 * gives; calling it packs the arguments by the signature (without one by the rules of
 * adapters/launch.h) and launches.  Memory of arguments is kept until the stream has
 * passed the kernel, as by hipModuleLaunchKernel.
 *
 * The *current stream* is that of the innermost `with stream:` of the running context:
 * a context variable whose value is None or a tuple that begins with the stream.
 *
 * hipadapt/_objects/kernel.py makes the public class from the kernel type, and raises
 * what a failed launch raises.  All functions need the GIL, which is released around
 * HIP's. */
#ifndef HA_MODULE_KERNEL_H
#define HA_MODULE_KERNEL_H

#include <Python.h>

#include "module/kernel_object.h"

/* What the provider knows about a function's arguments: a tuple of (offset, bytes, enum
 * ha_arg_kind), or None.  A method of the module. */
PyObject *ha_kernel_parameters(PyObject *module, PyObject *function);

/* What the CPU device tells about a function (cpu/compile/report.h): str, or None with
 * another provider.  A method of the module. */
PyObject *ha_kernel_report(PyObject *module, PyObject *function);

/* Makes the types and adds them to the module; 0, or -1 with an exception. */
int ha_kernel_init(PyObject *module, struct ha_kernel_state *state);
int ha_kernel_state_traverse(struct ha_kernel_state *state, visitproc visit, void *arg);
void ha_kernel_state_clear(struct ha_kernel_state *state);

#endif
