/* SPDX-License-Identifier: MIT */
/* How wrappers go without the GIL around a call of HIP.
 *
 * A check of kernels names the Python code that made a call (cpu/check/stack.h), and
 * asks for it in the middle of the call, when the thread has no GIL and must not wait
 * for it.  So the frames are noted before, while somebody wants them. */
#ifndef HA_API_LET_GO_H
#define HA_API_LET_GO_H

#include <Python.h>

#include "adapters/together.h"
#include "api/stack_text.h"

/* Needs the GIL, and gives it up. */
static inline PyThreadState *
ha_let_go(void)
{
    int (*wanted)(void) = HA_READ(ha_stack_wanted);

    if (wanted != NULL && wanted() != 0) {
        ha_stack_note();
    }
    return PyEval_SaveThread();
}

static inline void
ha_take_back(PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    if (HA_READ(ha_stack_wanted) != NULL) {
        ha_stack_forget();
    }
}

#endif
