/* SPDX-License-Identifier: MIT */
/* Whose context tells the names of kernels: one client's, for all of the process, since
 * the library tells each context of all code that is loaded. */
#ifndef HA_TOOL_KERNEL_NAMES_H
#define HA_TOOL_KERNEL_NAMES_H

#include <stdbool.h>

/* Within a client's initialize, once the library is there (sdk.h): names are noted by a
 * context of this client, unless another's does that already.  True: it is this
 * client's turn, until ha_kernel_names_end. */
bool ha_kernel_names_begin(void);

/* The client whose turn it was fails or ends; the next one begins. */
void ha_kernel_names_end(void);

#endif
