/* SPDX-License-Identifier: MIT */
/* Tools that put functions of their own into tables. */
#ifndef HA_ROCPROFILER_INTERCEPT_H
#define HA_ROCPROFILER_INTERCEPT_H

#include "rocprofiler/registration.h"

/* Calls the tools that asked for it, each once a registration. */
void ha_intercept_tell(struct ha_registration *registration);

#endif
