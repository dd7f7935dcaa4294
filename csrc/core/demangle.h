/* SPDX-License-Identifier: MIT */
/* Names of kernels as their programmers wrote them. */
#ifndef HA_CORE_DEMANGLE_H
#define HA_CORE_DEMANGLE_H

/* The name behind a symbol, owned: free() it.  ".kd", by which AMD's tools mark the
 * descriptor of a kernel, is left out.  A C++ symbol is read by the C++ library of the
 * process, or of the system where the process has none; what that can't read stays as
 * it is.  NULL: no memory.  On any thread, with no lock held: libraries may be loaded.
 */
char *ha_demangle(const char *symbol);

#endif
