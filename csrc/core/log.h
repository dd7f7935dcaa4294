/* SPDX-License-Identifier: MIT */
/* One line on stderr, prefixed "hipadapt: ", if HIPADAPT_LOG asks for its level:
 * 0 always (the user asked for something that can't be had), 1 faults and warnings,
 * 2 notes, 3 everything.  Each line is one write. */
#ifndef HA_CORE_LOG_H
#define HA_CORE_LOG_H

/* The format needs no newline.  Keeps errno. */
__attribute__((format(printf, 2, 3))) void ha_log(int level, const char *format, ...);

/* The calling thread is ours: it never looks into the environment, which the program
 * may be changing, but goes by the level that a thread of the program saw last. */
void ha_log_own_thread(void);

/* True if lines of this level are written, for callers whose arguments are costly. */
int ha_log_enabled(int level);

#endif
