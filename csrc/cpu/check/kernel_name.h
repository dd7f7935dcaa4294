/* SPDX-License-Identifier: MIT */
/* Names of kernels as their programmers wrote them, for findings.
 *
 * A demangler needs a large stack and may load a library, and a finding is made on the
 * small stack of a lane.  So whoever launches a kernel with checks names it before, on
 * a thread of the host, and the finding looks the name up.
 *
 * Locks: one, a leaf.  Names are kept for the life of the process. */
#ifndef HA_CPU_CHECK_KERNEL_NAME_H
#define HA_CPU_CHECK_KERNEL_NAME_H

#define HA_KERNEL_NAMES_MAX 4096u /* different ones; further ones stay as they are */

/* Makes the name of a symbol known; on a thread of the host, with no lock held. */
void ha_kernel_name_add(const char *symbol);

/* The name; the symbol itself where it has none, or is not known.  Constant, and kept.
 * On any stack. */
const char *ha_kernel_name(const char *symbol);

/* In a forked child. */
void ha_kernel_name_after_fork_child(void);

#endif
