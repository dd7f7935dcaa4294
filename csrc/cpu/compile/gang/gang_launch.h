/* SPDX-License-Identifier: MIT */
/* The function of a launch: arguments, and a loop over blocks. */
#ifndef HA_CPU_COMPILE_GANG_GANG_LAUNCH_H
#define HA_CPU_COMPILE_GANG_GANG_LAUNCH_H

#include "cpu/compile/gang/gang_emit.h"

void gang_write_launch(struct gang_emit *emit);

#endif
