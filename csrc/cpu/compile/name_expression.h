/* SPDX-License-Identifier: MIT */
/* Whether a text can stand as one name expression in a source: `f`, `&ns::v`, `k<int,
 * 3>`.
 *
 * The compiler decides what it names.  This check keeps the text within the brackets
 * that it is put into: it must not declare anything, end the declaration around it, or
 * speak to the preprocessor.  Pure; no lock. */
#ifndef HA_CPU_COMPILE_NAME_EXPRESSION_H
#define HA_CPU_COMPILE_NAME_EXPRESSION_H

/* NULL, or what is wrong, as the end of a sentence. */
const char *ha_name_expression_check(const char *text);

#endif
