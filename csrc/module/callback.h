/* SPDX-License-Identifier: MIT */
/* The one place where a thread that isn't Python's takes the GIL: to run a Python
 * callable that a stream calls. */
#ifndef HA_MODULE_CALLBACK_H
#define HA_MODULE_CALLBACK_H

/* From now on streams can call Python. */
void ha_callback_open(void);

/* From now on they can't: calls that come later are dropped, and their objects leaked,
 * because the interpreter is about to end. */
void ha_callback_close(void);

#endif
