/* SPDX-License-Identifier: MIT */
/* Which processor kernels are compiled for.
 *
 * It is a level of the machine (cpu/machine/machine.h), on x86-64 one of the psABI: the
 * highest that this processor and the operating system have, or a lower one that
 * HIPADAPT_CPU_TARGET names.  Any thread may call; the processor is asked once. */
#ifndef HA_CPU_COMPILE_TARGET_CPU_H
#define HA_CPU_COMPILE_TARGET_CPU_H

#include "core/status.h"
#include "cpu/machine/machine.h"

/* HA_ERROR_INVALID with a text that lists the levels, if HIPADAPT_CPU_TARGET names none
 * or one that this processor does not have. */
enum ha_status ha_target_cpu_find(const struct ha_machine_level **level);

#endif
