/* SPDX-License-Identifier: MIT */
/* `hipadapt.profile`, the C part: the functions of hipadapt/profile.h, with exceptions.
 */
#ifndef HA_MODULE_PROFILE_H
#define HA_MODULE_PROFILE_H

#include <Python.h>

#include "tool/tool.h"

/* None, or the exception that the result stands for, with this thread's text. */
PyObject *ha_profile_answer(enum hipadapt_profile_result result);

int ha_profile_init(PyObject *module);

#endif
