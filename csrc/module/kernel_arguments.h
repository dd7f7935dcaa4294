/* SPDX-License-Identifier: MIT */
/* Arguments of a kernel whose signature is known, packed as the signature says.
 *
 * Numbers and arrays are converted here; all else goes through adapters/launch.h, and
 * has to fit the argument.  All functions need the GIL. */
#ifndef HA_MODULE_KERNEL_ARGUMENTS_H
#define HA_MODULE_KERNEL_ARGUMENTS_H

#include <Python.h>

#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "module/kernel_object.h"

/* Where the arguments of one launch are gathered. */
struct ha_packing {
    struct ha_kernel *kernel;
    unsigned char *data;               /* packed by the signature */
    struct ha_launch_arguments launch; /* values that are converted generally; owners */
    bool named;
    struct ha_entry entry; /* for messages, once `named` */
};

/* Fills `data`, which has room for the kernel's bytes, and the owners of `launch`,
 * which is an empty one.  0, or -1 with an exception. */
int ha_kernel_pack(struct ha_packing *pack, PyObject *const *args, Py_ssize_t count);

#endif
