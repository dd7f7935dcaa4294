/* SPDX-License-Identifier: MIT */
/* Stacks of Python functions, for traces that show them at launches. */
#ifndef HA_MODULE_STACKS_H
#define HA_MODULE_STACKS_H

#include <Python.h>

#include <stdint.h>

/* The name (tool/name.h) of this thread's stack: `module:function:line`, the outermost
 * first, with a newline between.  0 where it runs no Python.  Takes the GIL. */
uint32_t ha_stack_name(void);

#endif
