/* SPDX-License-Identifier: MIT */
/* The Python frames of the calling thread, in programs of Python that use HIP without
 * hipadapt's own module, such as CuPy's.
 *
 * Nothing here links Python: its dumper for faults is looked for in the process. Python
 * 3.11 and 3.12 have it for others.  It is asked without the GIL.
 *
 * Locks: one, a leaf. */
#ifndef HA_CPU_CHECK_PYTHON_STACK_H
#define HA_CPU_CHECK_PYTHON_STACK_H

#include <stddef.h>

/* Lines as "program.py:12 in main", the innermost first, each with its end; their
 * bytes, 0 if there are none.  Needs: the thread holds no lock of ours. */
size_t ha_python_stack(char *text, size_t bytes);

/* Takes out lines of our own package, which the program has called; the bytes that are
 * left. */
size_t ha_python_stack_of_program(char *text, size_t bytes);

#endif
