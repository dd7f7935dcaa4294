/* SPDX-License-Identifier: MIT */
/* The tables of an image as host IR: kernels with their arguments, variables. */
#ifndef HA_CPU_COMPILE_REWRITE_TABLES_H
#define HA_CPU_COMPILE_REWRITE_TABLES_H

struct ha_rewriter;

/* Writes the tables that the loader finds kernels and variables by (cpu/base/image.h);
 * needs to know which kernels have a fast form. */
void ha_rewrite_tables(struct ha_rewriter *rewriter);

#endif
