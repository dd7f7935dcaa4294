/* SPDX-License-Identifier: MIT */
/* What is wrong with the variables of the environment that begin with HIPADAPT_: names
 * that nothing reads, and values that are none.  Switches of builds and tests are known
 * names, too.  Reads the environment: the caller sees to it that nobody changes it. */
#ifndef HA_CORE_ENV_CHECK_H
#define HA_CORE_ENV_CHECK_H

/* Both texts are borrowed until it returns; `text` goes on after the name. */
typedef void ha_env_complain(void *context, const char *name, const char *text);

/* Tells everything that is wrong; a set-uid process has nothing wrong. */
void ha_env_examine(ha_env_complain *complain, void *context);

/* The same as warnings, at the first call only.  Not of numbers, which ha_env_long
 * tells when they are asked for. */
void ha_env_warn(void);

#endif
