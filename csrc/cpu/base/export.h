/* SPDX-License-Identifier: MIT */
/* What the library exports besides HIP: its own calls, `hipadapt*`. */
#ifndef HA_CPU_BASE_EXPORT_H
#define HA_CPU_BASE_EXPORT_H

#define HA_EXPORT __attribute__((visibility("default")))

#endif
