/* SPDX-License-Identifier: MIT */
/* Texts that tools keep: payloads are copied with the pointers in them, and looked at
 * when the module that a text came from is gone. */
#ifndef HA_ROCPROFILER_TEXT_H
#define HA_ROCPROFILER_TEXT_H

/* A copy that lives as long as the process, the same for the same text; NULL for NULL,
 * and "" where there is no memory. */
const char *ha_text_keep(const char *text);

#endif
