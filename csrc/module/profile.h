/* SPDX-License-Identifier: MIT */
/* `hipadapt.profile`, the C part: the functions of hipadapt/profile.h, with exceptions.
 */
#ifndef HA_MODULE_PROFILE_H
#define HA_MODULE_PROFILE_H

#include <Python.h>

int ha_profile_init(PyObject *module);

#endif
