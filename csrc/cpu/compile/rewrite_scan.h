/* SPDX-License-Identifier: MIT */
/* What each function of a module does, itself and through the functions it calls: what
 * it asks of the device, and which shared variables it names.  Refuses what has no host
 * meaning, and lays shared memory out. */
#ifndef HA_CPU_COMPILE_REWRITE_SCAN_H
#define HA_CPU_COMPILE_REWRITE_SCAN_H

struct ha_rewriter;

/* Fills functions, infos and shared memory. */
void ha_rewrite_scan(struct ha_rewriter *rewriter);

#endif
