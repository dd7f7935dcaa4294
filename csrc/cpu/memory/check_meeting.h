/* SPDX-License-Identifier: MIT */
/* Barriers and warp calls of lanes that are not all there, as findings. */
#ifndef HA_CPU_MEMORY_CHECK_MEETING_H
#define HA_CPU_MEMORY_CHECK_MEETING_H

#include "cpu/exec/checks.h"

/* As `meeting` of struct ha_checks: a finding where `sync`, or `strict`, is checked. */
void ha_check_meeting(const struct ha_meeting *meeting);

#endif
