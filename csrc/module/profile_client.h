/* SPDX-License-Identifier: MIT */
/* Clients and children of the profiler that are objects of Python: their methods are
 * called with the GIL on the client's thread (hipadapt/profile_client.h), and what they
 * raise goes to sys.unraisablehook. */
#ifndef HA_MODULE_PROFILE_CLIENT_H
#define HA_MODULE_PROFILE_CLIENT_H

#include <Python.h>

int ha_profile_client_init(PyObject *module);

#endif
