/* SPDX-License-Identifier: MIT */
/* The C exchange table of DLPack 1.3, as the attribute __dlpack_c_exchange_api__ of our
 * array types: what consumers call instead of __dlpack__ where Python calls cost too
 * much. */
#ifndef HA_ADAPTERS_DLPACK_EXCHANGE_H
#define HA_ADAPTERS_DLPACK_EXCHANGE_H

#include <Python.h>

#include "adapters/types.h"

/* Adds the table to the array types; 0 or -1. */
int ha_dl_exchange_init(struct ha_types *types);

#endif
